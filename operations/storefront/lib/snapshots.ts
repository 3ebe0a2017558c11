/** The mirror of the platform's catalog: what sections show, target and count without calling the platform. */
export {
  find,
  type ItemStatus,
  productsOfVariants,
  type Snapshot,
  type SnapshotVariant,
  statusOf,
} from './snapshot-read.ts'
export { existingCategories, readLive, requireCategories, requireProducts } from './snapshot-require.ts'
export { onChanged, onReadWhole } from './snapshot-write.ts'
