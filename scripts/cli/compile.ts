/**
 * Loads all modules of servers, workers and migrations into Node's compile cache. Runs when an image is built:
 * otherwise every container would compile them at its start. Uses the same V8 flags as a start, except memory sizes,
 * because V8 rejects a cache that was made with other flags.
 */
import './compiled.js'

if (import.meta.main) {
  const { operationsFolder } = await import('#runtime/registry/folder')
  const { loadRegistry } = await import('#runtime/registry/registry')
  await loadRegistry(operationsFolder, 'to answer')
  await Promise.all([
    import('#scripts/server/start'),
    import('#scripts/server/worker'),
    import('#scripts/migrate'),
    import('#operations/discovery/mcp/server'),
    import('#operations/capture/mailing-list/brevo'),
    import('#operations/capture/mailing-list/mailchimp'),
    import('#operations/messaging/provider/whatsapp/whatsapp'),
    import('#operations/store/ecommerce/shopify/shopify'),
    import('#operations/store/ecommerce/tiendanube/tiendanube'),
    import('#operations/subscription/provider/mercado-pago'),
  ])
}
