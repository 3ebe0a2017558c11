import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { checkout } from '../../schema.ts'
import { updateCard } from '../start-checkout.ts'
import { readCheckout } from '../views.ts'

export default operation({
  method: 'POST',
  path: '/subscription/card-update',
  description:
    'Open a page where the merchant replaces the card; a charge that failed is tried again with it.',
  words: 'my credit card expired, new card',
  scopes: ['platform:write', 'billing:write'],
  readOnly: false,
  lookFirst: ['/subscription/pre-approval'],
  whilePaused: true,
  input: { body: object({}) },
  answer: { status: 201, body: checkout },
  refuses: { conflict: 'The provider cannot replace cards, or nothing is being charged' },
  transaction: 'own',
  async handler(ctx) {
    return readCheckout(ctx, await updateCard(ctx))
  },
})
