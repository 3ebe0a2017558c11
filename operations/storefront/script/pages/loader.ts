import { packedAnswer } from '#runtime/http/packed'
import { storefrontPage } from '../../visits/visit.ts'
import { loaderOf, modulesOf } from '../modules.ts'

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
    return packedAnswer(loader, visit, { 'cache-control': 'public, max-age=300' })
  },
})
