/**
 * Reads all that servers, workers and migrations are made of, so that it lies compiled for their starts: an image does so
 * when it is made, or each of its containers would compile anew. Its flags are theirs, but for sizes: V8 goes by them.
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
