/** Stories of the shop: a stock alert, an exchange, a review, all widgets. */
import { get, lastPart, linkTo, patch, persistentStep, post, step, when, world } from './story-steps.js'

const platform = `${world}/ecommerce/{store}`
const shop = '/storefront/{publicId}'
const email = 'paula.{run}@example.com'
const encodedEmail = email.replace('@', '%40')
const paula = { name: 'Paula Prado', email }
/** Returns a query parameter of a link in the newest email. */
const findLinkParameter = (name, { data: [mail] }) =>
  decodeURIComponent(new RegExp(`[?&]${name}=([\\w.%-]+)`).exec(mail.text)[1])

const orderPath = '/v1/analytics/orders?search={orderNumber}'
const findByOrder = ({ data }, { orderId }) => data.find((each) => each.orderId === orderId)
const findOrder = ({ data }, { orderId }) => data.find(({ id }) => id === orderId)
const placeOrder = step(
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
  when(orderPath, (answer, values) => findOrder(answer, values)?.paymentStatus === 'paid'),
)
const deliver = (text, done) =>
  step(
    'platform',
    text,
    post(`${platform}/orders/{orderId}/status`, { fulfillmentStatus: 'delivered' }),
    done,
  )

const productPath = '/v1/ecomplatform/products?ids={productId}'
const findStock = ({ data }, { variantId }) => data[0]?.variants.find(({ id }) => id === variantId)?.stock
/** Finds a product on sale. A new store without one gets a mug. */
const onSalePath = '/v1/ecomplatform/products?inStock=true&isPublished=true&limit=1'
const findProductSteps = [
  persistentStep(
    'platform',
    'Has something on sale.',
    post(`${platform}/products/mug-{run}`, { name: 'Mug', price: 30, stock: 10 }),
    when(onSalePath, ({ total }) => total > 0),
  ),
  step(
    'store',
    'Looks up what its shop sells, and takes the first that is there.',
    get(onSalePath, undefined, ({ data: [{ id, variants }] }) => ({
      productId: id,
      variantId: variants.find(({ isAvailable }) => isAvailable).id,
    })),
    when(productPath, ({ total }) => total === 1),
  ),
]
const setStock = (by, text, stock, isDone) =>
  step(by, text, post(`${platform}/variants/{variantId}/stock`, { stock }), when(productPath, isDone))
const alertSettings = '/v1/stock-notifications/settings'
export const stockStory = [
  persistentStep(
    'store',
    'Turns stock alerts on, by email.',
    post(alertSettings, { isEnabled: true, allowEmails: true }),
    when(alertSettings, ({ isEnabled, allowEmails }) => isEnabled && allowEmails),
  ),
  ...findProductSteps,
  setStock('platform', 'Sells the last of it.', 0, (answer, values) => findStock(answer, values) === 0),
  step(
    'customer',
    'Leaves her email in the shop.',
    post(`${shop}/stock-notifications`, { variantId: '{variantId}', ...paula, source: 'product-page' }),
    when(
      `/v1/stock-notifications/list?status=all&search=${encodedEmail}`,
      ({ total }) => total > 0,
      ({ data }) => ({ notificationId: data[0]?.id }),
    ),
    linkTo('/sandbox/shop/{store}/products/{productId}', 'The product in the shop'),
  ),
  setStock(
    'platform',
    'Gets ten new ones.',
    10,
    (answer, values) => values.notificationId && findStock(answer, values) === 10,
  ),
  step(
    'clock',
    'An hour passes, the minimum interval between alerts of a product: hers is under “Sent mail”.',
    post(`${world}/clock`, { advanceSeconds: 3600 }),
    when('/v1/stock-notifications/{notificationId}', ({ status }) => status === 'sent'),
  ),
  step(
    'customer',
    'Follows its link, and buys one: a conversion of the alert.',
    [
      get(`${world}/mail/outbox?to=${encodedEmail}`, undefined, (answer) => ({
        clickToken: findLinkParameter('mk', answer),
      })),
      { ...placeOrder.calls[0], body: { ...placeOrder.calls[0].body, clickToken: '{clickToken}' } },
    ],
    when(
      '/v1/conversions?sourceType=stock-notification',
      (answer, values) => findByOrder(answer, values) !== undefined,
    ),
  ),
]

const exchangeSettings = '/v1/product-exchanges/settings'
const requestPath = '/v1/product-exchanges/requests/{requestId}'
const whenRequestIs = (...statuses) => when(requestPath, ({ status }) => statuses.includes(status))
export const exchangeStory = [
  persistentStep(
    'store',
    'Turns exchanges and returns on.',
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
  ...findProductSteps,
  placeOrder,
  deliver(
    'Delivers the order.',
    when(orderPath, (answer, values) => findOrder(answer, values)?.fulfillmentStatus === 'delivered'),
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
      (answer, values) => findByOrder(answer, values) !== undefined,
      (answer, values) => ({ requestId: findByOrder(answer, values)?.id }),
    ),
  ),
  step(
    'store',
    'Approves it.',
    post(`${requestPath}/approve`, { returnCode: 'RMA-{run}' }),
    whenRequestIs('approved', 'in-transit', 'received', 'completed'),
  ),
  step(
    'customer',
    'Ships the parcel.',
    post(`${shop}/exchanges/requests/{statusToken}/shipped`, {
      trackingCode: 'BR{run}',
      carrier: 'Correios',
    }),
    whenRequestIs('in-transit', 'received', 'completed'),
    linkTo(`${shop}/exchanges/requests/{statusToken}`, 'What she sees of her request'),
  ),
  step(
    'store',
    'Receives the parcel.',
    post(`${requestPath}/confirm`, { stage: 'received' }),
    whenRequestIs('received', 'completed'),
  ),
  step(
    'store',
    'Completes the request: the refund is recorded.',
    post(`${requestPath}/confirm`, { stage: 'completed' }),
    whenRequestIs('completed'),
  ),
  step(
    'platform',
    'Gives the money back.',
    post(`${platform}/orders/{orderId}/status`, {
      paymentStatus: 'refunded',
      refundAmount: '{orderTotal}',
      refundItems: [{ variantId: '{variantId}', quantity: 1 }],
    }),
    when(orderPath, (answer, values) => findOrder(answer, values)?.paymentStatus === 'refunded'),
  ),
]

const reviewSettings = '/v1/product-reviews/settings'
const dispatchPath = '/v1/product-reviews/dispatches?status=all&search={orderNumber}'
const reviewPath = '/v1/product-reviews/{reviewId}'
export const reviewStory = [
  persistentStep(
    'store',
    'Turns review requests on for delivered orders.',
    post(reviewSettings, { isEnabled: true, request: { isEnabled: true, trigger: 'delivered' } }),
    when(
      reviewSettings,
      ({ isEnabled, request }) => isEnabled && request.isEnabled && request.trigger === 'delivered',
    ),
  ),
  ...findProductSteps,
  placeOrder,
  deliver(
    'Delivers the order: a request for a review is planned.',
    when(
      dispatchPath,
      (answer, values) => findByOrder(answer, values) !== undefined,
      (answer, values) => ({ dispatchId: findByOrder(answer, values)?.id }),
    ),
  ),
  step(
    'store',
    'Sends the request now, before its time.',
    post('/v1/product-reviews/dispatches/send-now', { ids: ['{dispatchId}'] }),
    when(dispatchPath, (answer, values) =>
      ['sent', 'reviewed'].includes(findByOrder(answer, values)?.status),
    ),
  ),
  step(
    'customer',
    'Opens the link of the mail, and gives five stars.',
    [
      get(`${world}/mail/outbox?to=${encodedEmail}`, undefined, (answer) => ({
        token: findLinkParameter('token', answer),
      })),
      post(`${shop}/reviews`, {
        token: '{token}',
        productId: '{productId}',
        rating: 5,
        title: 'Just as I hoped',
        text: 'It came quickly, and looks even better here.',
      }),
    ],
    when(
      `/v1/product-reviews/list?search=${encodedEmail}`,
      ({ total }) => total === 1,
      ({ data }) => ({ reviewId: data[0]?.id }),
    ),
  ),
  step(
    'store',
    'Approves the review.',
    patch(`${reviewPath}/moderate`, { status: 'approved' }),
    when(reviewPath, ({ status }) => status === 'approved'),
  ),
  step(
    'store',
    'Replies publicly to the review.',
    patch(`${reviewPath}/reply`, { text: 'Thank you, Paula!' }),
    when(`${shop}/products/{productId}/reviews?sort=newest`, ({ data }, { reviewId }) =>
      data.some(({ id, reply }) => id === reviewId && reply),
    ),
    linkTo('/sandbox/shop/{store}/products/{productId}', 'The stars in the shop'),
  ),
]

const turnOn = (text, path, body, link) =>
  persistentStep(
    'store',
    text,
    post(path, { isEnabled: true, ...body }),
    when(path, ({ isEnabled }) => isEnabled),
    link,
  )
/** Widgets for the whole shop. The demo has the others on; a shop would choose a few of these. */
export const widgetsStory = [
  turnOn('Turns the free shipping bar on.', '/v1/free-shipping-bar/settings', { threshold: 199 }),
  turnOn('Turns the countdown bar on.', '/v1/flash-countdown-bar/settings', {
    announcements: [{ text: 'New colours are here' }, { text: 'Free returns for 30 days' }],
  }),
  turnOn('Turns the action bar on.', '/v1/action-bar/settings', {
    actions: [{ type: 'link', icon: 'tag', label: 'Offers', target: '/' }],
  }),
  turnOn('Turns the pop-up on.', '/v1/newsletter/settings'),
  turnOn('Turns the wish list on.', '/v1/wishlist/settings'),
  turnOn(
    'Turns the stock counter on.',
    '/v1/stock-counter/settings',
    {},
    linkTo('/sandbox/shop/{store}', 'The shop with all of them'),
  ),
]
