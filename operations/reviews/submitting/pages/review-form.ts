import { storefrontPage } from '#operations/storefront/index'
import { refuse } from '#runtime/errors'
import { jsonAnswer } from '#runtime/page'
import { object, z } from '#runtime/schema'
import { findRequestForm, renderFormPage, reviewPeople } from '../form-page.ts'
import { requireSettings } from '../submit.ts'

const query = object({ token: z.string().min(1).max(200) })

export default storefrontPage({
  method: 'GET',
  path: '/reviews/form',
  description:
    'The products to review through the link of a request: a form for a person, JSON for a script.',
  trust: 'The random token of the link, which only the customer of the order was sent.',
  kind: 'link',
  feature: 'reviews',
  people: reviewPeople,
  async handler(ctx, visit) {
    const { token } = visit.query(query)
    const settings = await requireSettings(ctx)
    const form = await findRequestForm(ctx, settings, token)
    if (form) return visit.wantsHtml ? renderFormPage(ctx, form, token) : jsonAnswer(form)
    throw refuse('not_found', 'This link is not valid any more')
  },
})
