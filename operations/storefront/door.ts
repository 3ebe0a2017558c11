/** What the sections with something on the storefront use. */

export * as snapshots from './catalog/snapshots.ts'
export {
  type Counted,
  type EventType,
  eventTypes,
  registerEvents,
  type StorefrontEvent,
} from './events/register.ts'
export * as publication from './script/publication.ts'
export * as tokens from './visits/tokens.ts'
export { storefrontPage, type Visit } from './visits/visit.ts'
export { changed } from './widgets/changed.ts'
export { registerWidget, type Widget, type WidgetQuery } from './widgets/widgets.ts'
