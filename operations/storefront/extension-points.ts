/** Extension points of the storefront. */
import { existsSync } from 'node:fs'
import type { Context } from '#runtime/context'
import {
  byKey,
  extensionPoints,
  inOrder,
  type ValidationContext,
  type ValidationIssue,
} from '#runtime/extensions'
import type { EventSpec } from './events/specs.ts'
import type { ElementSpec } from './script/modules.ts'
import type { WidgetSpec } from './widgets/widgets.ts'

const checkFeature = (
  { feature }: { feature: string | null },
  { features }: ValidationContext,
): ValidationIssue | null =>
  feature === null || features.has(feature)
    ? null
    : { wrong: `names the feature ${feature}`, remedy: `one of ${[...features].join(', ')}` }

const declared = extensionPoints({
  /** Parts of the widgets response, by their key; the response has the keys in this order. */
  widgets: byKey<WidgetSpec>(checkFeature),
  /** Which browser events count, by the widget's name in events. */
  events: byKey<EventSpec>(checkFeature),
  /** Custom elements that show the widgets. */
  elements: inOrder<ElementSpec>(({ module }) =>
    existsSync(module) ? null : { wrong: `has no ${module.pathname}`, remedy: 'write it, or name it right' },
  ),
  /** Called with changed products, in the transaction that wrote their snapshots. */
  productsChanged: inOrder<(ctx: Context, productIds: readonly string[]) => Promise<void>>(),
  /** Called after each full catalog read, in a transaction of its own. */
  catalogRead: inOrder<(ctx: Context) => Promise<void>>(),
})
export default declared

declare module '#runtime/extensions' {
  interface ExtensionPoints extends DeclaredByStorefront {}
}
type DeclaredByStorefront = typeof declared.declared
