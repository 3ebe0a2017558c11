import { storefrontPage } from '#operations/storefront/index'
import { submitPopup } from '../popup-submission.ts'

export default storefrontPage({
  method: 'POST',
  path: '/newsletter/subscribers',
  description: 'Takes a filled-in popup: subscribes, draws the prize and hands out the code.',
  trust:
    'The signed token of the form; bots get no information and store nothing; limits by address and store.',
  kind: 'write',
  feature: 'newsletter',
  handler: submitPopup,
})
