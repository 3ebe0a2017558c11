/** The story of the store's own plan. */
import { lastPart, linkTo, post, step, when } from './story-steps.js'

/** The payer at the checkout, whose page the link opens. */
const pays = (cardNumber, text, isDone) =>
  step(
    'customer',
    text,
    {
      method: 'POST',
      path: '/sandbox/checkout/{checkout}',
      form: { cardNumber, holder: 'Olivia Prado', expMonth: '12', expYear: '2039' },
    },
    when('/v1/subscription', isDone),
    linkTo('/sandbox/checkout/{checkout}', 'Or pay there by hand'),
  )
export const subscriptionStory = [
  step(
    'store',
    'Runs on no paid plan: what runs is cancelled.',
    post('/v1/subscription/cancel', { reason: 'other' }),
    when('/v1/subscription', ({ status }) => ['trialing', 'cancelled', 'ended'].includes(status)),
  ),
  step(
    'store',
    'Chooses the plan Growth, by the month: a checkout opens.',
    post(
      '/v1/subscription/create-preapproval',
      { planId: 'growth', billingCycle: 'monthly' },
      ({ id, checkoutUrl }) => ({ checkoutId: id, checkout: lastPart(checkoutUrl) }),
    ),
    when('/v1/subscription/checkout-result', ({ id }, { checkoutId }) => id === checkoutId),
  ),
  pays(
    '4242424242424242',
    'Pays at the checkout with the card 4242.',
    ({ status, planId, paymentMethod }, { checkoutId }) =>
      checkoutId && status === 'active' && planId === 'growth' && paymentMethod?.last4 === '4242',
  ),
  step(
    'store',
    'Takes the larger plan Scale; the rest of the month is charged at once.',
    post('/v1/subscription/update-plan', { planId: 'scale' }, ({ outcome }) => ({ outcome })),
    when(
      '/v1/subscription',
      ({ status, planId }, { outcome }) => outcome && status === 'active' && planId === 'scale',
    ),
  ),
  step(
    'store',
    'Changes its card: another checkout opens.',
    post('/v1/subscription/card-update', undefined, ({ id, checkoutUrl }) => ({
      cardCheckoutId: id,
      checkout: lastPart(checkoutUrl),
    })),
    when('/v1/subscription/checkout-result', ({ id }, { cardCheckoutId }) => id === cardCheckoutId),
  ),
  pays(
    '4000000000000341',
    'Saves another card there, 0341.',
    ({ paymentMethod }, { cardCheckoutId }) => cardCheckoutId && paymentMethod?.last4 === '0341',
  ),
]
