/** What other sections give to the storefront. */
import { existsSync } from 'node:fs'
import type { Context } from '#runtime/context'
import { byKey, inOrder, type Known, points, type Wrong } from '#runtime/wiring'
import type { EventSpec } from './events/specs.ts'
import type { ElementSpec } from './script/modules.ts'
import type { WidgetSpec } from './widgets/widgets.ts'

const ofFeature = ({ feature }: { feature: string | null }, { features }: Known): Wrong | null =>
  feature === null || features.has(feature)
    ? null
    : { wrong: `names the feature ${feature}`, remedy: `one of ${[...features].join(', ')}` }

const declared = points({
  /** By the key in the answer, which has them in this order. */
  widgets: byKey<WidgetSpec>(ofFeature),
  /** By the widget's name in events. */
  events: byKey<EventSpec>(ofFeature),
  /** What a shop's pages show of the widgets. */
  elements: inOrder<ElementSpec>(({ module }) =>
    existsSync(module) ? null : { wrong: `has no ${module.pathname}`, remedy: 'write it, or name it right' },
  ),
  /** Products whose snapshot is another now, in the transaction that wrote it. */
  productsChanged: inOrder<(ctx: Context, productIds: readonly string[]) => Promise<void>>(),
  /** The whole catalog was read, changed or not: in a transaction of its own. */
  catalogRead: inOrder<(ctx: Context) => Promise<void>>(),
})
export default declared

declare module '#runtime/wiring' {
  interface Points extends DeclaredByStorefront {}
}
type DeclaredByStorefront = typeof declared.declared
