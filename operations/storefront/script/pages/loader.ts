import { isNamedBy } from '#runtime/gateway/etag'
import { storefrontPage } from '../../visits/visit.ts'
import { loaderOf, modulesOf, packedAnswer } from '../modules.ts'

export default storefrontPage({
  method: 'GET',
  path: '/loader.js',
  description: "The script that shows the store's widgets on its pages.",
  trust: 'Public: the same for every visitor.',
  kind: 'read',
  feature: null,
  handler(ctx, visit) {
    const { publicUrl } = ctx.settings
    const { publicId, name, locale, currency } = ctx.store
    const loader = loaderOf(ctx.wired, {
      base: `${publicUrl}/storefront/${publicId}`,
      modules: `${publicUrl}/elements/${modulesOf(ctx.wired).release}/`,
      name,
      locale,
      currency,
    })
    const headers = { 'cache-control': 'public, max-age=300' }
    if (isNamedBy(visit.header('if-none-match') ?? undefined, loader.etag)) {
      return new Response(null, { status: 304, headers: { ...headers, etag: loader.etag } })
    }
    return packedAnswer(loader, visit.header('accept-encoding'), headers)
  },
})
