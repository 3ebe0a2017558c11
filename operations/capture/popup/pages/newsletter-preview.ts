import { storefrontPage } from '#operations/storefront/index'
import { refuse } from '#runtime/errors'
import { object, z } from '#runtime/schema'
import { renderPreviewPage } from '../preview-page.ts'
import { findPreview } from '../previews.ts'

export default storefrontPage({
  method: 'GET',
  path: '/newsletter/preview',
  description: 'The popup with unsaved settings, as a page.',
  trust: 'The signed token of the link, which is valid for 24 hours.',
  kind: 'link',
  feature: 'newsletter',
  people: {
    missing: {
      title: {
        en: 'There is no such preview',
        'pt-BR': 'Esta prévia não existe',
        es: 'No existe esta vista previa',
      },
      text: {
        en: 'It lives 24 hours: make a new one.',
        'pt-BR': 'Ela dura 24 horas: crie outra.',
        es: 'Dura 24 horas: crea otra.',
      },
    },
  },
  async handler(ctx, visit) {
    const { token } = visit.query(object({ token: z.string().min(1).max(300) }))
    const settings = await findPreview(ctx, token)
    if (!settings) throw refuse('not_found', 'There is no such preview')
    return renderPreviewPage(ctx, settings)
  },
})
