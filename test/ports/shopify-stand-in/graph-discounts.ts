/** Mutations of discounts and metafields, with their errors. */
import { createHash } from 'node:crypto'
import { automaticNode, codeNode, gid, installationId } from './graph-objects.ts'
import type { Shop, StoredCode, StoredDiscount, StoredItems } from './shop.ts'

const userError = (field: string[], message: string, code: string) => ({
  field,
  message,
  code,
})

const nothing = (...errors: ReturnType<typeof userError>[]) => ({
  automaticDiscountNode: null,
  codeDiscountNode: null,
  deletedAutomaticDiscountId: null,
  deletedCodeDiscountId: null,
  userErrors: errors,
})

interface ItemsInput {
  all?: boolean
  products?: { productsToAdd?: string[]; productsToRemove?: string[] }
  collections?: { add?: string[]; remove?: string[] }
}

interface BxgyInput {
  title?: string
  startsAt?: string
  endsAt?: string | null
  usesPerOrderLimit?: string | null
  context?: { all?: string }
  combinesWith?: StoredDiscount['combinesWith']
  customerBuys?: { value?: { quantity?: string }; items?: ItemsInput }
  customerGets?: {
    value?: { discountOnQuantity?: { quantity: string; effect: { percentage: number } } }
    items?: ItemsInput
  }
}

const noItems: StoredItems = { products: [], collections: [] }

function changed(before: StoredItems, input: ItemsInput | undefined): StoredItems {
  if (!input) return before
  const { products = {}, collections = {} } = input
  const removed = new Set([...(products.productsToRemove ?? []), ...(collections.remove ?? [])])
  const kept = (ids: string[], added: string[] = []) => [
    ...new Set([...ids.filter((id) => !removed.has(id)), ...added]),
  ]
  return {
    products: kept(before.products, products.productsToAdd),
    collections: kept(before.collections, collections.add),
  }
}

const isEmpty = ({ products, collections }: StoredItems): boolean =>
  products.length + collections.length === 0

const wholeSeconds = (instant: string): string => `${instant.slice(0, 19)}Z`

/** Creates a discount, or changes the one with this id. */
export function saveDiscount(shop: Shop, input: BxgyInput, id: string | null) {
  const before =
    id === null ? null : shop.discounts.find((each) => gid('DiscountAutomaticNode', each.id) === id)
  if (before === undefined) return nothing(userError(['id'], 'Discount does not exist', 'INVALID'))
  const path = 'automaticBxgyDiscount'
  const title = input.title ?? before?.title ?? ''
  if (title === '') return nothing(userError([path, 'title'], "Title can't be blank", 'BLANK'))
  if (shop.discounts.some((each) => each !== before && each.title === title)) {
    return nothing(userError([path, 'title'], 'Title must be unique for automatic discount', 'TAKEN'))
  }
  const on = input.customerGets?.value?.discountOnQuantity
  const buys = {
    quantity: input.customerBuys?.value?.quantity ?? before?.buys.quantity ?? '0',
    items: changed(before?.buys.items ?? noItems, input.customerBuys?.items),
  }
  const gets = {
    quantity: on?.quantity ?? before?.gets.quantity ?? '0',
    percentage: on?.effect.percentage ?? before?.gets.percentage ?? 0,
    items: changed(before?.gets.items ?? noItems, input.customerGets?.items),
  }
  if (Number(buys.quantity) < 1 || Number(gets.quantity) < 1) {
    return nothing(
      userError([path, 'customerBuys', 'value'], 'Quantity must be greater than 0', 'GREATER_THAN'),
    )
  }
  if (gets.percentage <= 0 || gets.percentage > 1) {
    return nothing(
      userError([path, 'customerGets'], 'Value must be between 0.0 and 1.0', 'VALUE_OUTSIDE_RANGE'),
    )
  }
  if (input.customerGets?.items?.all) {
    const message = "Items in 'customer get' cannot be set to all"
    return nothing(userError([path, 'customerGets'], message, 'INVALID'))
  }
  if (isEmpty(buys.items) || isEmpty(gets.items)) {
    const message = "Items in 'customer buys' must be defined"
    return nothing(userError([path, 'customerBuys', 'items'], message, 'BLANK'))
  }
  const endsAt = input.endsAt === undefined ? (before?.endsAt ?? null) : input.endsAt
  const startsAt = input.startsAt ?? before?.startsAt ?? shop.now()
  if (endsAt !== null && Date.parse(endsAt) <= Date.parse(startsAt)) {
    return nothing(userError([path, 'endsAt'], 'Ends at needs to be after starts_at', 'INVALID'))
  }
  const limit = input.usesPerOrderLimit
  const discount: StoredDiscount = {
    id: before?.id ?? shop.nextId(),
    typename: 'DiscountAutomaticBxgy',
    title,
    createdAt: before?.createdAt ?? shop.clock.now().toISOString(),
    startsAt: wholeSeconds(startsAt),
    endsAt: endsAt && wholeSeconds(endsAt),
    usesPerOrderLimit: limit === undefined ? (before?.usesPerOrderLimit ?? null) : limit && Number(limit),
    asyncUsageCount: before?.asyncUsageCount ?? 0,
    combinesWith: input.combinesWith ??
      before?.combinesWith ?? { productDiscounts: false, orderDiscounts: false, shippingDiscounts: false },
    buys,
    gets,
  } as StoredDiscount
  if (before) Object.assign(before, discount)
  else shop.discounts.push(discount)
  return { ...nothing(), automaticDiscountNode: automaticNode(before ?? discount) }
}

export function deleteDiscount(shop: Shop, id: string) {
  const at = shop.discounts.findIndex((each) => gid('DiscountAutomaticNode', each.id) === id)
  if (at === -1) return nothing(userError(['id'], 'Automatic discount does not exist.', 'INVALID'))
  shop.discounts.splice(at, 1)
  return { ...nothing(), deletedAutomaticDiscountId: id }
}

export function deleteCode(shop: Shop, id: string) {
  const at = shop.codes.findIndex((each) => gid('DiscountCodeNode', each.id) === id)
  if (at === -1) return nothing(userError(['id'], 'Code discount does not exist.', 'INVALID'))
  shop.codes.splice(at, 1)
  return { ...nothing(), deletedCodeDiscountId: id }
}

export function createCode(
  shop: Shop,
  path: 'basicCodeDiscount' | 'freeShippingCodeDiscount',
  input: Record<string, unknown>,
) {
  const code = String(input.code ?? '')
  if (code === '') return nothing(userError([path, 'code'], "Code can't be blank", 'BLANK'))
  if (!input.context) return nothing(userError([path, 'context'], "Context can't be blank", 'BLANK'))
  if (findCode(shop, code)) {
    const message = 'Code must be unique. Please try a different code.'
    return nothing(userError([path, 'code'], message, 'TAKEN'))
  }
  const { percentage } = (input.customerGets as { value?: { percentage?: number } } | undefined)?.value ?? {}
  if (percentage !== undefined && (percentage <= 0 || percentage > 1)) {
    const message = 'Value must be between 0.0 and 1.0'
    return nothing(userError([path, 'customerGets', 'value', 'percentage'], message, 'VALUE_OUTSIDE_RANGE'))
  }
  const made: StoredCode = {
    id: shop.nextId(),
    typename: path === 'basicCodeDiscount' ? 'DiscountCodeBasic' : 'DiscountCodeFreeShipping',
    code,
    title: String(input.title ?? code),
    createdAt: shop.clock.now().toISOString(),
    startsAt: String(input.startsAt),
    endsAt: input.endsAt ? String(input.endsAt) : null,
    input,
  }
  shop.codes.push(made)
  return { ...nothing(), codeDiscountNode: codeNode(made) }
}

export const findCode = (shop: Shop, code: string) =>
  shop.codes.find((each) => each.code.toLowerCase() === code.toLowerCase())

interface MetafieldInput {
  ownerId: string
  namespace: string
  key: string
  type: string
  value: string
  compareDigest?: string | null
}

/** The digest depends on the data alone, as Shopify documents: equal values have equal digests. */
const computeDigest = (value: string): string => createHash('sha256').update(value).digest('hex')

/** Sets all or none; each replaces the value with the given digest, null meaning that there is none yet. */
export function setMetafields(shop: Shop, inputs: MetafieldInput[]) {
  const failed = (field: string, message: string, code: string) => ({
    metafields: null,
    userErrors: [{ field: ['metafields', '0', field], message, code }],
  })
  const known = ({ ownerId, namespace, key }: MetafieldInput) =>
    shop.metafields.find(
      (each) => each.ownerId === ownerId && each.namespace === namespace && each.key === key,
    )
  const owners = [gid('Shop', shop.id), installationId]
  for (const input of inputs) {
    if (!owners.includes(input.ownerId)) return failed('ownerId', 'Owner does not exist.', 'INVALID')
    if (!/^[\w-]{2,64}$/.test(input.key)) return failed('key', 'Key is invalid.', 'INVALID')
    const isStale = 'compareDigest' in input && (known(input)?.compareDigest ?? null) !== input.compareDigest
    if (isStale) {
      return failed('compareDigest', 'The metafield has been modified since it was loaded.', 'STALE_OBJECT')
    }
  }
  const metafields = inputs.map((input) => {
    const { ownerId, namespace, key, value } = input
    const written = { ownerId, namespace, key, value, compareDigest: computeDigest(value) }
    const before = known(input)
    if (before) Object.assign(before, written)
    else shop.metafields.push(written)
    return written
  })
  return { metafields, userErrors: [] }
}
