/** The button banner: its settings and its widget. */

import { snapshots, type Widget } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { reference, requireReferences } from '#runtime/references'
import { z } from '#runtime/schema'
import { mergeChange } from '#runtime/values/changes'
import { requirePhone } from '#runtime/values/phone'
import { countCharacters } from '#runtime/values/truncate'
import { barSettings } from '../bar-settings.ts'
import { link, platformId } from '../common-schema.ts'
import { type Action, type ActionContent, actionBar, type actionInput, defaultActions } from './schema.ts'

const couponAtMost = 40

/**
 * Settings of the button banner, validated as a whole after merging, even while the banner is turned off. Refuses an
 * enabled banner without actions, a target that does not fit the type of its action, and a new product that is not in
 * the catalog.
 */
export const actionSettings = barSettings('action', {
  defaults: defaultActions,
  schema: actionBar,
  merge(ctx, before, change: z.infer<typeof actionInput>) {
    const actions = change.actions?.map((action, at) => ({
      ...action,
      target: normalizeTarget(action, `actions.${at}.target`, ctx.store.country),
    }))
    return mergeChange(before, { ...change, actions })
  },
  check(_ctx, { isEnabled, actions }) {
    if (isEnabled && actions.length === 0) {
      throw refuse('bad_request', 'actions: must have at least one while the bar is on')
    }
  },
  prepare: (ctx, after, before) =>
    requireReferences(ctx, withTargets, {
      before: { actions: before.actions.map(toProductReference) },
      after: { actions: after.actions.map(toProductReference) },
      kinds: ['product'],
    }),
})

/** Schema for reference checks: only the target of an action of type `product` is a product reference. */
const withTargets = z.object({ actions: z.array(z.object({ target: reference('product', platformId) })) })
const toProductReference = ({ type, target }: { type: string; target: string | null }) => ({
  target: type === 'product' ? target : null,
})

const listProductIds = ({ actions }: ActionContent): string[] =>
  actions.flatMap(({ type, target }) => (type === 'product' && target !== null ? [target] : []))

/** Returns the target as it is stored, with a normalized phone. Refuses a target that does not fit the action's type. */
function normalizeTarget({ type, target }: Action, field: string, country: string): string | null {
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
    return requirePhone(target, country, field)
  } else if (type === 'product') {
    if (!platformId.safeParse(target).success) throw wrong('is not the id of a product')
  } else if (countCharacters(target) > couponAtMost)
    throw wrong(`must have at most ${couponAtMost} characters`)
  return target
}

/** Turns the banner off and keeps its other settings. Runs in the caller's transaction. */
export const deactivateActions = (ctx: Context): Promise<void> =>
  actionSettings.write(ctx, (before) => ({ ...before, isEnabled: false }))

/** Builds the widget with the URL of each button. Omits buttons of products that are not published. */
export async function buildActionWidget(ctx: Context): Promise<Widget | null> {
  const content = await actionSettings.getForShoppers(ctx)
  const { isEnabled, actions, ...shown } = content
  if (!isEnabled) return null
  const products = await snapshots.find(ctx, listProductIds(content))
  const buttons = actions
    .map((action) => ({ ...action, url: buildUrl(action, products) }))
    .filter(({ type, url }) => url !== null || type === 'coupon' || type === 'scroll-top')
  return buttons.length === 0 ? null : { value: { ...shown, actions: buttons } }
}

function buildUrl(
  { type, target }: Action,
  products: ReadonlyMap<string, snapshots.Snapshot>,
): string | null {
  if (type === 'messaging') return `https://wa.me/${target!.slice(1)}`
  if (type === 'phone') return `tel:${target}`
  if (type === 'link') return target
  const product = products.get(target!)
  return product?.exists && product.isPublished ? product.url : null
}
