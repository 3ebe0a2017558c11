import { htmlAnswer } from '#operations/store/door'
import { storefrontPage } from '#operations/storefront/door'
import { object, z } from '#runtime/schema'
import { previewPage } from '../preview-page.ts'
import { findPreview } from '../previews.ts'

export default storefrontPage({
  method: 'GET',
  path: '/newsletter/preview',
  description: 'The popup with unsaved settings, as a page.',
  trust: 'The signed token of the link, which lives 24 hours.',
  kind: 'link',
  feature: 'newsletter',
  async handler(ctx, visit) {
    const { token } = visit.query(object({ token: z.string().min(1).max(300) }))
    const settings = await findPreview(ctx, token)
    if (settings) return previewPage(ctx.store.name, settings)
    return htmlAnswer('There is no such preview', '<p>It lives 24 hours: make a new one.</p>', 404)
  },
})
