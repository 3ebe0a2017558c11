import { answerCompressed } from '#runtime/http/compression-cache'
import { z } from '#runtime/schema'
import { storefrontPage } from '../../visits/storefront-page.ts'
import { buildLoader, buildModules } from '../modules.ts'
import { recordSighting } from '../sightings.ts'

/** `via` marks the embed block. Other query parameters, which a theme may add, are ignored. */
const query = z.object({ via: z.string().optional() })

export default storefrontPage({
  method: 'GET',
  path: '/loader.js',
  description: "The script that shows the store's widgets on its pages.",
  trust: 'Public: the same for every visitor.',
  kind: 'read',
  feature: null,
  handler(ctx, visit) {
    recordSighting(ctx, visit.header('user-agent'), visit.query(query).via === 'embed')
    const { publicUrl } = ctx.settings
    const { publicId, name, locale, currency } = ctx.store
    const loader = buildLoader(ctx.extensions, {
      base: `${publicUrl}/storefront/${publicId}`,
      modules: `${publicUrl}/elements/${buildModules(ctx.extensions).release}/`,
      name,
      locale,
      currency,
    })
    return answerCompressed(loader, visit, { 'cache-control': 'public, max-age=300' })
  },
})
