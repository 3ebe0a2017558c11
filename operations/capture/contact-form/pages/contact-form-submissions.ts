import { storefrontPage } from '#operations/storefront/index'
import { jsonAnswer } from '#runtime/page'
import { submitForm } from '../submit.ts'

export default storefrontPage({
  method: 'POST',
  path: '/contact-form/submissions',
  description: 'Takes a filled-in contact form.',
  trust: 'The signed token of the form; forms of bots are not stored; limits by address and store.',
  kind: 'write',
  feature: 'contact-form',
  async handler(ctx, visit) {
    await submitForm(ctx, visit)
    return jsonAnswer({ status: 'received' }, 201)
  },
})
