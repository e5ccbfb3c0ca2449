# Becomes the built rxlet; docs/performance.md, "Another agent", has what such a script is given.
exec node "$RXLET_BENCH_HOME/dist/main.js" run --pod-manifest-path="$MANIFESTS" --root-dir="$ROOT" --socket="$ROOT/rxlet.sock" \
  --container-runtime-endpoint="unix://$SOCK" --image-gc-high-threshold=100 >"$LOG" 2>&1
