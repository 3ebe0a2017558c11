/** The bar of buttons. */
import { snapshots, type Widget } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { reference, requireReferences } from '#runtime/references'
import { z } from '#runtime/schema'
import { merged } from '#runtime/values/changes'
import { parsePhone } from '#runtime/values/phone'
import { barSettings } from '../bar-settings.ts'
import { link, platformId } from '../common-schema.ts'
import { type Action, type ActionContent, actionBar, type actionInput, defaultActions } from './schema.ts'

const couponAtMost = 40

/**
 * The whole is checked after a change, also of a bar that is turned off: one that is on without an action is refused, a
 * target that its type cannot have, and a new product that is not in the catalog.
 */
export const actionSettings = barSettings('action', {
  defaults: defaultActions,
  schema: actionBar,
  merge(ctx, before, change: z.infer<typeof actionInput>) {
    const actions = change.actions?.map((action, at) => ({
      ...action,
      target: targetOf(action, `actions.${at}.target`, ctx.store.country),
    }))
    const after = merged(before, { ...change, actions })
    return { ...after, text: after.text || null }
  },
  check(_ctx, { isEnabled, actions }) {
    if (isEnabled && actions.length === 0) {
      throw refuse('bad_request', 'actions: must have at least one while the bar is on')
    }
  },
  prepare: (ctx, after, before) =>
    requireReferences(ctx, withTargets, {
      before: { actions: before.actions.map(asNaming) },
      after: { actions: after.actions.map(asNaming) },
      kinds: ['product'],
    }),
})

/** A target names a product where its type says so. */
const withTargets = z.object({ actions: z.array(z.object({ target: reference('product', platformId) })) })
const asNaming = ({ type, target }: { type: string; target: string | null }) => ({
  target: type === 'product' ? target : null,
})

const productsOf = ({ actions }: ActionContent): string[] =>
  actions.flatMap(({ type, target }) => (type === 'product' && target !== null ? [target] : []))

/** As it is kept: a phone in its one form. */
function targetOf({ type, target: given }: Action, field: string, country: string): string | null {
  const target = given === '' ? null : given
  const wrong = (what: string) => refuse('bad_request', `${field}: ${what}`)
  if (type === 'scroll-top') {
    if (target !== null) throw wrong('must be null: this action goes to the top of the page')
    return null
  }
  if (target === null) throw wrong(`is needed by an action of type ${type}`)
  if (type === 'link') {
    const read = link.safeParse(target)
    if (!read.success) throw wrong(read.error.issues[0]!.message)
  } else if (type === 'messaging' || type === 'phone') {
    const phone = parsePhone(target, country)
    if (!phone) throw wrong('is not a phone number')
    return phone
  } else if (type === 'product') {
    if (!platformId.safeParse(target).success) throw wrong('is not the id of a product')
  } else if (target.length > couponAtMost) throw wrong(`must have at most ${couponAtMost} characters`)
  return target
}

/** Turns the bar off and touches nothing else; one that is off stays as it is. In the caller's transaction. */
export const deactivateActions = (ctx: Context): Promise<void> =>
  actionSettings.write(ctx, (before) => ({ ...before, isEnabled: false }))

/** Where each button leads; one of a product that is not to be seen is left out. */
export async function actionWidget(ctx: Context): Promise<Widget | null> {
  const content = await actionSettings.forShoppers(ctx)
  const { isEnabled, actions, ...shown } = content
  if (!isEnabled) return null
  const products = await snapshots.find(ctx, productsOf(content))
  const buttons = actions
    .map((action) => ({ ...action, url: urlOf(action, products) }))
    .filter(({ type, url }) => url !== null || type === 'coupon' || type === 'scroll-top')
  return buttons.length === 0 ? null : { value: { ...shown, actions: buttons } }
}

function urlOf({ type, target }: Action, products: ReadonlyMap<string, snapshots.Snapshot>): string | null {
  if (type === 'messaging') return `https://wa.me/${target!.slice(1)}`
  if (type === 'phone') return `tel:${target}`
  if (type === 'link') return target
  const product = products.get(target!)
  return product?.exists && product.isPublished ? product.url : null
}
