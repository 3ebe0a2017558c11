/**
 * Loads all modules of servers, workers and migrations into the compile cache, so that starts do not compile them: run
 * when an image is built, since every container would compile again otherwise. It uses the same flags except memory
 * sizes, because V8 checks them.
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
    import('#operations/subscription/provider/mercado-pago'),
  ])
}
