import { storefrontPage } from '#operations/storefront/door'
import { capture } from '../take.ts'

export default storefrontPage({
  method: 'POST',
  path: '/newsletter/subscribers',
  description: 'Takes a filled-in popup: subscribes, draws the prize and hands out the code.',
  trust:
    'The signed token of the form; machines are told nothing and store nothing; limits by address and store.',
  kind: 'write',
  feature: 'newsletter',
  handler: capture,
})
