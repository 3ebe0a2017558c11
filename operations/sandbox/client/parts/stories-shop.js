/** The stories of the shop: stock that returns, something sent back, a review. */
import { get, lasting, lastPart, linkTo, patch, post, step, when, world } from './story-steps.js'

const platform = `${world}/ecommerce/{store}`
const shop = '/storefront/{publicId}'
const email = 'paula.{telling}@example.com'
const inQuery = email.replace('@', '%40')
const paula = { name: 'Paula Prado', email }
/** What the newest mail's links carry under a name. */
const inMail = (name, { data: [mail] }) =>
  decodeURIComponent(new RegExp(`[?&]${name}=([\\w.%-]+)`).exec(mail.text)[1])

const theOrder = '/v1/analytics/orders?search={orderNumber}'
const ofOrder = ({ data }, { orderId }) => data.find((each) => each.orderId === orderId)
const orderIn = ({ data }, { orderId }) => data.find(({ id }) => id === orderId)
const orders = step(
  'customer',
  'Orders it, and pays.',
  post(
    `${platform}/orders`,
    { customer: paula, items: [{ variantId: '{variantId}', quantity: 1 }], paymentStatus: 'paid' },
    ({ id, number, items, total }) => ({
      orderId: id,
      orderNumber: number,
      orderItemId: items[0].id,
      orderTotal: Number(total),
    }),
  ),
  when(theOrder, (answer, known) => orderIn(answer, known)?.paymentStatus === 'paid'),
)
const delivers = (text, done) =>
  step(
    'platform',
    text,
    post(`${platform}/orders/{orderId}/status`, { fulfillmentStatus: 'delivered' }),
    done,
  )

const theProduct = '/v1/ecomplatform/products?ids={productId}'
const stockOf = ({ data }, { variantId }) => data[0]?.variants.find(({ id }) => id === variantId)?.stock
/** Something that can be bought: where a new store has nothing yet, a mug. */
const onSale = '/v1/ecomplatform/products?inStock=true&isPublished=true&limit=1'
const findsProduct = [
  lasting(
    'platform',
    'Has something on sale.',
    post(`${platform}/products/mug-{telling}`, { name: 'Mug', price: 30, stock: 10 }),
    when(onSale, ({ total }) => total > 0),
  ),
  step(
    'store',
    'Looks up what its shop sells, and takes the first that is there.',
    get(onSale, undefined, ({ data: [{ id, variants }] }) => ({
      productId: id,
      variantId: variants.find(({ isAvailable }) => isAvailable).id,
    })),
    when(theProduct, ({ total }) => total === 1),
  ),
]
const stockIs = (by, text, stock, isDone) =>
  step(by, text, post(`${platform}/variants/{variantId}/stock`, { stock }), when(theProduct, isDone))
const alertSettings = '/v1/stock-notifications/settings'
export const stockStory = [
  lasting(
    'store',
    'Turns stock alerts on, by email.',
    post(alertSettings, { isEnabled: true, allowEmails: true }),
    when(alertSettings, ({ isEnabled, allowEmails }) => isEnabled && allowEmails),
  ),
  ...findsProduct,
  stockIs('platform', 'Sells the last of it.', 0, (answer, known) => stockOf(answer, known) === 0),
  step(
    'customer',
    'Leaves her email in the shop.',
    post(`${shop}/stock-notifications`, { variantId: '{variantId}', ...paula, source: 'product-page' }),
    when(
      `/v1/stock-notifications/list?status=all&search=${inQuery}`,
      ({ total }) => total > 0,
      ({ data }) => ({ notificationId: data[0]?.id }),
    ),
    linkTo('/sandbox/shop/{store}/products/{productId}', 'The product in the shop'),
  ),
  stockIs(
    'platform',
    'Gets ten new ones.',
    10,
    (answer, known) => known.notificationId && stockOf(answer, known) === 10,
  ),
  step(
    'clock',
    'An hour passes, which alerts of one product keep between them: hers stands under “Mail that left”.',
    post(`${world}/clock`, { advanceSeconds: 3600 }),
    when('/v1/stock-notifications/{notificationId}', ({ status }) => status === 'sent'),
  ),
  step(
    'customer',
    'Follows its link, and buys one: a conversion of the alert.',
    [
      get(`${world}/mail/outbox?to=${inQuery}`, undefined, (answer) => ({
        clickToken: inMail('mk', answer),
      })),
      { ...orders.calls[0], body: { ...orders.calls[0].body, clickToken: '{clickToken}' } },
    ],
    when(
      '/v1/conversions?sourceType=stock-notification',
      (answer, known) => ofOrder(answer, known) !== undefined,
    ),
  ),
]

const exchangeSettings = '/v1/product-exchanges/settings'
const theRequest = '/v1/product-exchanges/requests/{requestId}'
const requestIs = (...statuses) => when(theRequest, ({ status }) => statuses.includes(status))
export const exchangeStory = [
  lasting(
    'store',
    'Takes exchanges and returns.',
    post(exchangeSettings, {
      isEnabled: true,
      returnAddress: {
        recipient: 'The shop, returns',
        street: 'Rua das Flores',
        number: '100',
        city: 'São Paulo',
        state: 'SP',
        postalCode: '01000-000',
        country: 'BR',
      },
    }),
    when(exchangeSettings, ({ isEnabled, returnAddress }) => isEnabled && returnAddress !== null),
  ),
  ...findsProduct,
  orders,
  delivers(
    'Delivers the order.',
    when(theOrder, (answer, known) => orderIn(answer, known)?.fulfillmentStatus === 'delivered'),
  ),
  step(
    'customer',
    'Finds her order in the shop, and asks to send it back.',
    [
      post(
        `${shop}/exchanges/lookup`,
        { orderNumber: '{orderNumber}', contact: email },
        ({ sessionToken }) => ({ sessionToken }),
      ),
      post(
        `${shop}/exchanges/requests`,
        {
          sessionToken: '{sessionToken}',
          type: 'return',
          items: [{ orderItemId: '{orderItemId}', quantity: 1, reason: 'wrong-size' }],
          returnMethod: 'customer-ships',
          acceptedConditions: true,
        },
        ({ statusUrl }) => ({ statusToken: lastPart(statusUrl) }),
      ),
    ],
    when(
      '/v1/product-exchanges/requests?search={orderNumber}',
      (answer, known) => ofOrder(answer, known) !== undefined,
      (answer, known) => ({ requestId: ofOrder(answer, known)?.id }),
    ),
  ),
  step(
    'store',
    'Approves it.',
    post(`${theRequest}/approve`, { returnCode: 'RMA-{telling}' }),
    requestIs('approved', 'in-transit', 'received', 'completed'),
  ),
  step(
    'customer',
    'Has taken the parcel to the post.',
    post(`${shop}/exchanges/requests/{statusToken}/shipped`, {
      trackingCode: 'BR{telling}',
      carrier: 'Correios',
    }),
    requestIs('in-transit', 'received', 'completed'),
    linkTo(`${shop}/exchanges/requests/{statusToken}`, 'What she sees of her request'),
  ),
  step(
    'store',
    'Has the parcel.',
    post(`${theRequest}/confirm`, { stage: 'received' }),
    requestIs('received', 'completed'),
  ),
  step(
    'store',
    'Completes the request: what is given back is written down.',
    post(`${theRequest}/confirm`, { stage: 'completed' }),
    requestIs('completed'),
  ),
  step(
    'platform',
    'Gives the money back.',
    post(`${platform}/orders/{orderId}/status`, {
      paymentStatus: 'refunded',
      refundAmount: '{orderTotal}',
      refundItems: [{ variantId: '{variantId}', quantity: 1 }],
    }),
    when(theOrder, (answer, known) => orderIn(answer, known)?.paymentStatus === 'refunded'),
  ),
]

const reviewSettings = '/v1/product-reviews/settings'
const theDispatch = '/v1/product-reviews/dispatches?status=all&search={orderNumber}'
const theReview = '/v1/product-reviews/{reviewId}'
export const reviewStory = [
  lasting(
    'store',
    'Asks for reviews of what was delivered.',
    post(reviewSettings, { isEnabled: true, request: { isEnabled: true, trigger: 'delivered' } }),
    when(
      reviewSettings,
      ({ isEnabled, request }) => isEnabled && request.isEnabled && request.trigger === 'delivered',
    ),
  ),
  ...findsProduct,
  orders,
  delivers(
    'Delivers the order: a request for a review is planned.',
    when(
      theDispatch,
      (answer, known) => ofOrder(answer, known) !== undefined,
      (answer, known) => ({ dispatchId: ofOrder(answer, known)?.id }),
    ),
  ),
  step(
    'store',
    'Sends the request now, before its time.',
    post('/v1/product-reviews/dispatches/send-now', { ids: ['{dispatchId}'] }),
    when(theDispatch, (answer, known) => ['sent', 'reviewed'].includes(ofOrder(answer, known)?.status)),
  ),
  step(
    'customer',
    'Opens the link of the mail, and gives five stars.',
    [
      get(`${world}/mail/outbox?to=${inQuery}`, undefined, (answer) => ({ token: inMail('token', answer) })),
      post(`${shop}/reviews`, {
        token: '{token}',
        productId: '{productId}',
        rating: 5,
        title: 'Just as I hoped',
        text: 'It came quickly, and looks even better here.',
      }),
    ],
    when(
      `/v1/product-reviews/list?search=${inQuery}`,
      ({ total }) => total === 1,
      ({ data }) => ({ reviewId: data[0]?.id }),
    ),
  ),
  step(
    'store',
    'Approves the review.',
    patch(`${theReview}/moderate`, { status: 'approved' }),
    when(theReview, ({ status }) => status === 'approved'),
  ),
  step(
    'store',
    'Thanks her for it, where everybody reads it.',
    patch(`${theReview}/reply`, { text: 'Thank you, Paula!' }),
    when(`${shop}/products/{productId}/reviews?sort=newest`, ({ data }, { reviewId }) =>
      data.some(({ id, reply }) => id === reviewId && reply),
    ),
    linkTo('/sandbox/shop/{store}/products/{productId}', 'The stars in the shop'),
  ),
]
