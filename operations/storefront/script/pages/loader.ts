import { packedAnswer } from '#runtime/http/packed'
import { z } from '#runtime/schema'
import { storefrontPage } from '../../visits/storefront-page.ts'
import { loaderOf, modulesOf } from '../modules.ts'
import { noteSeen } from '../seen.ts'

/** What else an address has is the theme's. */
const query = z.object({ via: z.string().optional() })

export default storefrontPage({
  method: 'GET',
  path: '/loader.js',
  description: "The script that shows the store's widgets on its pages.",
  trust: 'Public: the same for every visitor.',
  kind: 'read',
  feature: null,
  handler(ctx, visit) {
    noteSeen(ctx, visit.header('user-agent'), visit.query(query).via === 'embed')
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
