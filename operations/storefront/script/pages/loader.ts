import { etagOf, isNamedBy } from '#runtime/gateway/etag'
import { storefrontPage } from '../../visits/visit.ts'
import { loaderText } from '../loader-text.ts'

export default storefrontPage({
  method: 'GET',
  path: '/loader.js',
  description: "The script that shows the store's widgets on its pages.",
  trust: 'Public: the same for every visitor.',
  kind: 'read',
  feature: null,
  handler(ctx, visit) {
    const text = loaderText(ctx.wired, `${ctx.settings.publicUrl}/storefront/${ctx.store.publicId}`)
    const etag = etagOf(text)
    const headers = { etag, 'cache-control': 'public, max-age=300' }
    if (isNamedBy(visit.header('if-none-match') ?? undefined, etag)) {
      return new Response(null, { status: 304, headers })
    }
    const type = 'text/javascript; charset=utf-8'
    return new Response(text, {
      headers: { ...headers, 'content-type': type, 'x-content-type-options': 'nosniff' },
    })
  },
})
