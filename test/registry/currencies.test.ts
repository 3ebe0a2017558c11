/** Every amount of every operation's input is refused by its name if it has decimals that the store's currency has not. */
import { describe, expect, test } from 'vitest'
import { buildExample } from '#runtime/documents/example'
import { getChildSchemas, publish } from '#runtime/documents/publish'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { ignoredKeys, isStoreAmount, z } from '#runtime/schema'
import { testApp, wholeRegistry } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
const { operations } = await wholeRegistry()

interface Field {
  operation: LoadedOperation
  part: 'query' | 'body'
  /** Names from the root; `0` for an entry of a list. */
  path: string[]
  isAmount: boolean
}

function listNumbers(operation: LoadedOperation, part: 'query' | 'body'): Field[] {
  const found: Field[] = []
  const walk = (schema: z.ZodTypeAny, path: string[]): void => {
    if (schema instanceof z.ZodNumber) {
      found.push({ operation, part, path, isAmount: isStoreAmount(schema) })
    } else if (schema instanceof z.ZodObject) {
      for (const [name, field] of Object.entries(schema.shape as z.ZodRawShape)) {
        if (!ignoredKeys(schema).has(name)) walk(field, [...path, name])
      }
    } else {
      for (const child of getChildSchemas(schema)) {
        walk(child, schema instanceof z.ZodArray ? [...path, '0'] : path)
      }
    }
  }
  const schema = operation.spec.input?.[part]
  if (schema) walk(schema, [])
  return found
}

const numbers = operations.flatMap((operation) => [
  ...listNumbers(operation, 'query'),
  ...listNumbers(operation, 'body'),
])
const format = ({ operation, path }: Field): string => `${operation.id} ${path.join('.')}`

/** Their unit depends on another field, or their currency on a row: the operations refuse them, see the tests below. */
const others: readonly RegExp[] = [
  /^(post|patch)_bundles\S* discountValue$/,
  /^(post|put)_automations\S* (flow\.steps\.0\.)?coupon\.value$/,
  /^post_newsletter_\S+ (settings\.)?(coupon|roulette\.prizes\.0\.coupon)\.value$/,
  /_confirm refundAmount$/,
  // Whole units in every currency.
  /^post_free_shipping_bar_settings threshold$/,
]
/** Named like amounts, but they count or measure something else. */
const noAmounts: readonly RegExp[] = [/^post_stock_counter_settings threshold$/, / conditionValue$/, /Days$/]

const looksLikeAmount = /(amount|price|value|spent|threshold|shipping|fee|cost|total)/i

test('every number that is named like an amount is one', () => {
  const named = numbers.filter(({ path }) => looksLikeAmount.test(path.at(-1)!))
  const isListed = (field: Field, list: readonly RegExp[]): boolean =>
    list.some((each) => each.test(format(field)))
  const wrong = named.filter(
    (field) => !field.isAmount && !isListed(field, others) && !isListed(field, noAmounts),
  )
  expect(wrong.map(format)).toEqual([])
  expect(numbers.filter(({ isAmount }) => isAmount).length).toBeGreaterThan(20)
})

/** A coupon step, which the example of a flow may lack. */
const couponStep = {
  ...{ id: 'coupon', type: 'coupon', next: null },
  coupon: { type: 'percentage', value: 10, prefix: 'BACK', minimumAmount: null, validDays: 7 },
}

/** A copy of the operation's example with one number replaced. */
function buildInput({ operation: { spec }, part, path }: Field, value: number) {
  const schema = spec.input![part]!
  const given = part === 'body' ? spec.example?.body : undefined
  const input = structuredClone(given ?? (part === 'body' ? buildExample(publish(schema)) : {})) as object
  let holder = input as Record<string, unknown>
  for (const [at, name] of path.slice(0, -1).entries()) {
    const isList = path[at + 1] === '0'
    const known = holder[name] ?? (isList ? [] : {})
    const isSteps = name === '0' && path[at - 1] === 'steps'
    const isEmpty = name === '0' && typeof known === 'object' && Object.keys(known as object).length === 0
    holder[name] = isSteps ? couponStep : isEmpty ? buildEntry(schema, path.slice(0, at + 1)) : known
    holder = holder[name] as Record<string, unknown>
  }
  holder[path.at(-1)!] = value
  return part === 'body' ? { body: input } : { query: Object.fromEntries(Object.entries(input)) }
}

/** An example of a list's entry. */
function buildEntry(schema: z.ZodTypeAny, path: readonly string[]): unknown {
  if (path.length === 0) return buildExample(publish(schema))
  const [name, ...rest] = path
  if (schema instanceof z.ZodArray) return buildEntry(schema.element, rest)
  if (schema instanceof z.ZodObject) return buildEntry((schema.shape as z.ZodRawShape)[name!]!, rest)
  return buildEntry(getChildSchemas(schema)[0]!, path)
}

const call = (shop: Shop, field: Field, value: number) => {
  const { method, path } = field.operation.spec
  const there = path.replace(/:[A-Za-z]+/g, '01980000-0000-7000-8000-000000000000')
  return shop.request(method, there, buildInput(field, value))
}

describe('an amount with decimals', () => {
  test('is refused by its name in a currency without decimals', async () => {
    const shop = await store(app, { country: 'CL', currency: 'CLP', timezone: 'America/Santiago' })
    for (const field of numbers.filter(({ isAmount }) => isAmount)) {
      const answer = await call(shop, field, 10.5)
      expect(answer.status, format(field)).toBe(400)
      const sentence = `${field.path.join('.')}: must be a whole number: CLP has no decimals`
      expect(answer.body.error.message, format(field)).toContain(sentence)
    }
  })

  test('is accepted in other currencies, up to two decimals', async () => {
    for (const currency of ['BRL', 'KWD']) {
      const shop = await store(app, { currency })
      for (const field of numbers.filter(({ isAmount }) => isAmount)) {
        const name = `${field.path.join('.')}: `
        const { body } = await call(shop, field, 10.5)
        expect(body.error?.message ?? '', `${currency} ${format(field)}`).not.toContain(
          `${name}must be a whole`,
        )
        const refused = await call(shop, field, 10.125)
        expect(refused.status, format(field)).toBe(400)
        expect(refused.body.error.message, format(field)).toContain(name)
      }
    }
  })
})
