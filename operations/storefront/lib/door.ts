/** What the sections with something on the storefront use. */
export { changed } from './changed.ts'
export { type Counted, type EventType, eventTypes, registerEvents, type StorefrontEvent } from './events.ts'
export * as publication from './publication.ts'
export * as snapshots from './snapshots.ts'
export * as tokens from './tokens.ts'
export { storefrontPage, type Visit } from './visit.ts'
export { registerWidget, type Widget, type WidgetQuery } from './widgets.ts'
