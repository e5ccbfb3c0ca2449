/** What a .proto file says, in the JSON form of protobufjs, as far as our own files use it. */
export interface Namespace {
  readonly nested: Readonly<Record<string, Item>>;
}

export type Item = Namespace | Service | Message | Enum;

export interface Service {
  readonly methods: Readonly<Record<string, Method>>;
}

export interface Method {
  readonly requestType: string;
  readonly responseType: string;
  readonly requestStream?: boolean;
  readonly responseStream?: boolean;
}

export interface Message {
  readonly fields: Readonly<Record<string, Field>>;
  readonly nested?: Readonly<Record<string, Item>>;
}

export interface Field {
  readonly type: string;
  readonly id: number;
  readonly rule?: 'repeated';
  /** Of a map. */
  readonly keyType?: string;
  readonly options?: object;
}

export interface Enum {
  readonly values: Readonly<Record<string, number>>;
}

/** All that is declared, by its full name (`runtime.v1.Mount`). */
export function itemsOf(namespace: Namespace): ReadonlyMap<string, Item> {
  const items = new Map<string, Item>();
  const add = (prefix: string, nested: Readonly<Record<string, Item>>): void => {
    for (const [name, item] of Object.entries(nested)) {
      items.set(`${prefix}${name}`, item);
      if ('nested' in item) add(`${prefix}${name}.`, item.nested);
    }
  };
  add('', namespace.nested);
  return items;
}
