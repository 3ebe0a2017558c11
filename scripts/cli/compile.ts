/**
 * Reads all that servers, workers and migrations are made of, so that it lies compiled for their starts: an image does so
 * when it is made, or each of its containers would compile anew. Its flags are theirs, but for sizes: V8 goes by them.
 */
import './compiled.js'

if (import.meta.main) {
  const { loadRegistry, operationsFolder } = await import('#runtime/registry/registry')
  await loadRegistry(operationsFolder, 'to answer')
  await Promise.all([
    import('#scripts/server/start'),
    import('#scripts/server/worker'),
    import('#scripts/migrate'),
    import('#runtime/mcp/server'),
  ])
}
