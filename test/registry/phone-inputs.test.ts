/** Every input that takes a phone parses it the same way, in a store of Germany, where landlines have many lengths. */
import { type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { expect, test } from 'vitest'
import { toCartRow } from '#operations/automations/carts/carts'
import { toOrderRow } from '#operations/store/orders/order-rows'
import { findDataSubject } from '#operations/store/platform/data-subject'
import { getChildSchemas } from '#runtime/documents/publish'
import { ignoredKeys, z } from '#runtime/schema'
import { connectNumber } from '#scripts/seed/connect-number'
import { exchangeShop, returnAddress } from '#test/operations/exchanges/shopper'
import { requested } from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'
import { automationShop } from '#test/support/automations'
import { formShop, popupShop, visit as post } from '#test/support/capture'
import { emptyList } from '#test/support/imports'
import { internationalForms, nationalForms, shortenedForms, unprefixedForms } from '#test/support/phones'
import { stockShop } from '#test/support/stock'
import { type Shop, store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp({
  storefrontAcceptedIp: 10_000,
  storefrontWritesIp: 10_000,
  chatAgentRequests: 1000,
})
await app.setClock('2026-04-01T12:00:00.000Z')
const germany = { country: 'DE', locale: 'en-US' }

let people = 0
/** A mobile that nobody has used yet. */
function newMobile(): PhoneNumber {
  people += 1
  return parsePhoneNumberFromString(`+49151${String(23_456_000 + people)}`)!
}

const allForms = { ...internationalForms, ...unprefixedForms, ...nationalForms }
const formNames = isFullSuite ? Object.keys(allForms) : ['without plus', 'national', 'direction marks']
/** Only the parser reads longer forms, such as links with a text: the fields take 40 characters. */
const isForField = (form: string): boolean => allForms[form]!(newMobile()).length <= 40
const texts = formNames.filter(isForField).map((form) => [form, allForms[form]!] as const)

interface PhoneInput {
  /** Ids of operations with the name of their field. */
  fields?: string[]
  /** Sends the text and returns the phone that was stored; or the message of the refusal. */
  enter(text: string): Promise<unknown>
}

const shops = {
  plain: await store(app, germany),
  sending: await automationShop(app, germany),
  official: await store(app, germany),
  popup: await popupShop(app, { fields: { email: { required: false }, phone: { enabled: true } } }, germany),
  form: await formShop(app, {}, germany),
  stock: await stockShop(app, { ...germany, settings: { allowPhones: true } }),
  exchange: await exchangeShop(app, { returnAddress }, germany),
}
await connectNumber(await shops.official.context(), { type: 'official', phone: '+4930123450' })
const listId = await emptyList(shops.plain)

/** Calls an operation below /v1; returns the answer's body, or the message of its refusal. */
const call =
  (
    shop: Shop,
    method: string,
    path: string,
    read: (body: never) => unknown = (body: { phone: string }) => body.phone,
  ) =>
  async (body?: unknown): Promise<unknown> => {
    const answer = await shop.request(method, path, body === undefined ? {} : { body })
    if (answer.status >= 400) return answer.body.error.message
    await app.drainJobs()
    return read(answer.body as never)
  }

let templates = 0
const greeting = (phone: string) => ({
  name: `greeting_${++templates}`,
  language: 'de',
  category: 'utility',
  body: 'Your order left today.',
  buttons: [{ type: 'phone', text: 'Call us', phone }],
})
const readButton = ({ buttons }: { buttons: { phone: string }[] }) => buttons[0]!.phone
const readAttendant = ({ attendants }: { attendants: { phone: string }[] }) => attendants[0]!.phone

const readAddress = (body: { returnAddress: { phone: string } }) => body.returnAddress.phone

const made = async (shop: Shop, path: string, body: object) =>
  (await shop.request('POST', path, { body })).body
const template = await made(shops.official, '/messaging/templates', {
  ...greeting('+4915123450000'),
  buttons: [],
})
const rejected = await made(shops.official, '/messaging/templates', {
  ...greeting('+4915123450000'),
  name: 'reject',
})
const button = await made(shops.plain, '/messaging-button', { isEnabled: true, phone: '+4915123450000' })
await app.advance(6_000)
await app.drainJobs()
const automation = await shops.sending.automation({ type: 'abandoned-cart' })
const order = await shops.stock.place({})
const cart = {
  ...{ id: '1', items: [], total: 1, currency: 'EUR', url: null, orderId: null },
  ...{ lastActivityAt: order.placedAt, createdAt: order.placedAt },
} as unknown as Parameters<typeof toCartRow>[0]

/** A shopper's call; returns null, or the message of its refusal. */
async function visit(shop: Shop, path: string, body: object): Promise<string | null> {
  const answer = await post(shop, 'POST', path, { body })
  await app.drainJobs()
  return answer.status < 400 ? null : answer.body.error.message
}
/** The phone of the newest row. */
const newest = async (
  shop: Shop,
  table: 'newsletter_subscribers' | 'contact_form_submissions' | 'stock_subscriptions',
) =>
  (await (await shop.context()).db.selectFrom(table).select('phone').orderBy('id', 'desc').executeTakeFirst())
    ?.phone
const asked = await requested(shops.exchange)

const inputs: Record<string, PhoneInput> = {
  'the profile': {
    fields: ['patch_store phone'],
    enter: (phone) => call(shops.plain, 'PATCH', '/store')({ phone }),
  },
  'a single message': {
    fields: ['post_messaging_send_message phone'],
    enter: (phone) => call(shops.sending, 'POST', '/messaging/send-message')({ phone, text: 'Hi' }),
  },
  'a new template': {
    fields: ['post_messaging_templates buttons.phone'],
    enter: (phone) => call(shops.official, 'POST', '/messaging/templates', readButton)(greeting(phone)),
  },
  "a template's change": {
    fields: ['patch_messaging_templates_by_id buttons.phone'],
    async enter(phone) {
      // The provider rejects it again, and a rejected one can be changed. A busy machine may need another pass.
      const path = `/messaging/templates/${rejected.id}`
      for (let pass = 0; pass < 5; pass += 1) {
        await app.advance(6_000)
        await app.drainJobs()
        if ((await shops.official.request('GET', path)).body.status === 'rejected') break
      }
      return call(shops.official, 'PATCH', path, readButton)({ buttons: greeting(phone).buttons })
    },
  },
  "a template's test": {
    fields: ['post_messaging_templates_by_id_test phone'],
    enter: (phone) => call(shops.official, 'POST', `/messaging/templates/${template.id}/test`)({ phone }),
  },
  'the button': {
    fields: ['post_messaging_button phone', 'patch_messaging_button_by_messagingButtonId phone'],
    enter: (phone) => call(shops.plain, 'PATCH', `/messaging-button/${button.id}`)({ phone }),
  },
  "the button's people": {
    fields: [
      'post_messaging_button attendants.phone',
      'patch_messaging_button_by_messagingButtonId attendants.phone',
    ],
    enter: (phone) =>
      call(
        shops.plain,
        'PATCH',
        `/messaging-button/${button.id}`,
        readAttendant,
      )({ attendants: [{ name: 'Ana', phone }] }),
  },
  "the assistant's code": {
    fields: ['post_chat_agent_connect_code phone'],
    async enter(phone) {
      // Ten an hour are allowed.
      await (await shops.plain.context()).db.deleteFrom('chat_agent_codes').execute()
      return call(shops.plain, 'POST', '/chat-agent/connect-code')({ phone })
    },
  },
  "an automation's test": {
    fields: ['post_automations_by_id_test phone'],
    enter: (phone) => call(shops.sending, 'POST', `/automations/${automation.id}/test`)({ phone }),
  },
  'an opt-out': {
    fields: ['post_campaigns_opt_outs phone'],
    enter: (phone) => call(shops.plain, 'POST', '/campaigns/opt-outs')({ phone }),
  },
  'a contact': {
    fields: ['post_campaigns_lists_by_id_contacts phone'],
    enter: (phone) => call(shops.plain, 'POST', `/campaigns/lists/${listId}/contacts`)({ phone }),
  },
  'a file of contacts': {
    fields: [
      'post_campaigns_lists_import_csv mapping.phone',
      'post_campaigns_lists_by_id_import_csv mapping.phone',
    ],
    async enter(phone) {
      const { id } = await made(shops.plain, '/campaigns/lists', { name: `File ${phone}` })
      const path = `/campaigns/lists/${id}`
      const failed = await call(
        shops.plain,
        'POST',
        `${path}/import/csv`,
        () => null,
      )({ columns: ['phone'], rows: [[phone]] })
      const { body } = await shops.plain.request('GET', `${path}/contacts`)
      const { body: list } = await shops.plain.request('GET', path)
      return failed ?? body.data[0]?.phone ?? list.import?.errors?.[0]?.reason ?? list
    },
  },
  'a button of the banner': {
    fields: ['post_action_bar_settings actions.target'],
    enter: (target) =>
      call(
        shops.plain,
        'POST',
        '/action-bar/settings',
        ({ actions }: { actions: { target: string }[] }) => actions[0]!.target,
      )({
        actions: [{ type: 'phone', label: 'Call us', target }],
      }),
  },
  'the return address': {
    fields: ['post_product_exchanges_settings returnAddress.phone'],
    enter: (phone) =>
      call(
        shops.exchange,
        'POST',
        '/product-exchanges/settings',
        readAddress,
      )({ returnAddress: { ...returnAddress, phone } }),
  },
  "a request's address": {
    fields: [
      'patch_product_exchanges_requests_by_id_address returnAddress.phone',
      'post_product_exchanges_requests_by_id_approve returnAddress.phone',
    ],
    enter: (phone) =>
      call(
        shops.exchange,
        'PATCH',
        `/product-exchanges/requests/${asked.id}/address`,
        readAddress,
      )({
        returnAddress: { ...returnAddress, phone },
      }),
  },
  'the popup': {
    enter: async (phone) =>
      (await visit(shops.popup, '/newsletter/subscribers', {
        token: shops.popup.token,
        consent: true,
        phone,
      })) ?? newest(shops.popup, 'newsletter_subscribers'),
  },
  'the contact form': {
    enter: async (phone) =>
      (await visit(shops.form, '/contact-form/submissions', {
        token: shops.form.token,
        values: { name: 'Ana', email: 'ana@example.com', message: 'Hi', phone },
      })) ?? newest(shops.form, 'contact_form_submissions'),
  },
  'a stock alert': {
    enter: async (phone) =>
      (await visit(shops.stock, '/stock-notifications', {
        variantId: '3001',
        source: 'product-page',
        phone,
      })) ?? newest(shops.stock, 'stock_subscriptions'),
  },
  "an order's customer": {
    enter: async (phone) =>
      toOrderRow({ ...order, customer: { ...order.customer, phone } }, 'DE').customer_phone,
  },
  "a cart's customer": {
    enter: async (phone) =>
      toCartRow({ ...cart, customer: { ...order.customer, phone } }, 'DE').customer_phone,
  },
  'a request for erasure': {
    enter: async (phone) =>
      (await findDataSubject(await shops.plain.context(), { phone })).phoneKeys[0] ?? null,
  },
}

/** Inputs that find what is stored: true if the text finds the phone. */
const finders: Record<string, { fields?: string[]; find(text: string, phone: string): Promise<boolean> }> = {
  'deleting an opt-out': {
    fields: ['delete_campaigns_opt_outs_by_phone :phone'],
    async find(text, phone) {
      await shops.plain.request('POST', '/campaigns/opt-outs', { body: { phone } })
      const path = `/campaigns/opt-outs/${encodeURIComponent(text.replace(/[\t\n]/g, ' '))}`
      return (await shops.plain.request('DELETE', path)).status === 204
    },
  },
  'unpairing a phone': {
    fields: ['delete_chat_agent_bindings_by_phone :phone'],
    async find(text, phone) {
      const ctx = await shops.plain.context()
      await ctx.db
        .insertInto('chat_agent_bindings')
        .values({ phone_key: phone, phone, name: 'X', user_id: shops.plain.userId, paired_at: ctx.now() })
        .execute()
      const path = `/chat-agent/bindings/${encodeURIComponent(text.replace(/[\t\n]/g, ' '))}`
      return (await shops.plain.request('DELETE', path)).status === 204
    },
  },
  'searching opt-outs': {
    async find(text, phone) {
      await shops.plain.request('POST', '/campaigns/opt-outs', { body: { phone } })
      const { body } = await shops.plain.request('GET', '/campaigns/opt-outs', { query: { search: text } })
      return body.total === 1
    },
  },
  'searching contacts': {
    async find(text, phone) {
      await shops.plain.request('POST', `/campaigns/lists/${listId}/contacts`, { body: { phone } })
      const path = `/campaigns/lists/${listId}/contacts`
      return (await shops.plain.request('GET', path, { query: { search: text } })).body.total === 1
    },
  },
  'finding an order to return': {
    async find(text, phone) {
      const found = await shops.exchange.delivered({ customer: { name: 'Ana', email: null, phone } as never })
      return (await shops.exchange.lookup(found, text)).status === 200
    },
  },
}

test('every field of an operation that takes a phone is among them', async () => {
  const found = new Set<string>()
  const walk = (schema: z.ZodTypeAny, path: string): void => {
    if (schema instanceof z.ZodObject)
      for (const [key, field] of Object.entries(schema.shape as z.ZodRawShape)) {
        if (ignoredKeys(schema).has(key)) continue
        const at = path.endsWith(' ') ? `${path}${key}` : `${path}.${key}`
        if (/^(phone|target)$/.test(key) && !containsObject(field)) found.add(at)
        walk(field, at)
      }
    else for (const child of getChildSchemas(schema)) walk(child, path)
  }
  for (const { id, parameters, spec } of app.registry.operations) {
    for (const name of parameters) if (/phone/i.test(name)) found.add(`${id} :${name}`)
    if (spec.input?.body) walk(spec.input.body, `${id} `)
  }
  const listed = [...Object.values(inputs), ...Object.values(finders)].flatMap(({ fields = [] }) => fields)
  expect([...found].sort()).toEqual(listed.sort())
})
const containsObject = (schema: z.ZodTypeAny): boolean =>
  schema instanceof z.ZodObject || getChildSchemas(schema).some(containsObject)

test.each(Object.entries(inputs))('%s stores one phone, however it is written', async (_, { enter }) => {
  for (const [form, write] of texts) {
    const phone = newMobile()
    expect([form, await enter(write(phone))]).toEqual([form, phone.number])
  }
})

test.each(Object.entries(inputs).filter(([, { fields }]) => fields))(
  '%s refuses a number that a spreadsheet shortened',
  async (_, { enter }) => {
    expect(await enter(shortenedForms.exponent!(newMobile()))).toMatch(
      /(?:phone|target): was turned into a number by the spreadsheet \(4\.91.*E\+12\); format the column as text$/,
    )
  },
)

test.each(Object.entries(finders))('%s finds one phone, however it is written', async (_, { find }) => {
  for (const [form, write] of texts) {
    const phone = newMobile()
    expect([form, await find(write(phone), phone.number)]).toEqual([form, true])
  }
})
