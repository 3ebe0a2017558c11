/** The mirror of the platform's catalog: what sections show, target and count without calling the platform. */
export {
  find,
  type ItemStatus,
  productsOfVariants,
  type Snapshot,
  type SnapshotVariant,
  statusOf,
} from './read.ts'
export { existingCategories, readLive, requireCategories, requireProducts } from './require.ts'
