import { createServer } from 'node:http';

/** An agent that knows a few answers; resolves to what ends it. */
export function serveAnswers(socket: string, answers: Readonly<Record<string, unknown>>): Promise<() => void> {
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(JSON.stringify(answer ?? null));
  });
  return new Promise((resolve) => {
    server.listen(socket, () => {
      resolve(() => server.close());
    });
  });
}
