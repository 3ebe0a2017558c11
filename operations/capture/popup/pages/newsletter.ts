import { publication, storefrontPage } from '#operations/storefront/index'
import { jsonAnswer } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { findPreview } from '../previews.ts'
import { issuePopupToken, issuePreviewToken, toPublicPopup } from '../public-popup.ts'
import { isScheduled } from '../publication.ts'
import { popup } from '../settings.ts'

const off = () => jsonAnswer({ enabled: false })
const query = object({ preview: z.string().min(1).max(300).optional() })

export default storefrontPage({
  method: 'GET',
  path: '/newsletter',
  description: 'The settings that draw the popup, and the token of its form.',
  trust: 'Settings that every shopper sees; unsaved ones only behind a signed link.',
  kind: 'read',
  feature: 'newsletter',
  missing: off,
  async handler(ctx, visit) {
    const { preview } = visit.query(query)
    if (preview !== undefined) {
      const settings = await findPreview(ctx, preview)
      if (!settings) return off()
      return jsonAnswer({
        enabled: true,
        token: issuePreviewToken(ctx, preview),
        settings: toPublicPopup(settings),
      })
    }
    const settings = await popup.getForShoppers(ctx)
    if (!settings.isEnabled) return off()
    await publication.recordSeen(ctx)
    if (!isScheduled(settings, ctx.now())) return off()
    return jsonAnswer({ enabled: true, token: issuePopupToken(ctx), settings: toPublicPopup(settings) })
  },
})
