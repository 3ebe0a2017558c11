/** Story of the store's subscription. */
import { lastPart, linkTo, post, step, when } from './story-steps.js'

/** The step of the payer at the checkout; its link opens the checkout page. */
const pay = (cardNumber, text, isDone) =>
  step(
    'customer',
    text,
    {
      method: 'POST',
      path: '/sandbox/checkout/{checkout}',
      form: { cardNumber, holder: 'Olivia Prado', expMonth: '12', expYear: '2039' },
    },
    when('/v1/subscription', isDone),
    linkTo('/sandbox/checkout/{checkout}', 'Or pay there manually'),
  )
export const subscriptionStory = [
  step(
    'store',
    'Cancels the current plan, if there is one.',
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
  pay(
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
  pay(
    '4000000000000341',
    'Saves another card there, 0341.',
    ({ paymentMethod }, { cardCheckoutId }) => cardCheckoutId && paymentMethod?.last4 === '0341',
  ),
]
