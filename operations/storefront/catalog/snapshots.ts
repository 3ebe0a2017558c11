/** The mirror of the platform's catalog: what sections show, target and count without calling the platform. */
export {
  find,
  productsOfVariants,
  type Snapshot,
  statusOf,
} from './read.ts'
export { existingCategories, readLive, requireCategories, requireProducts } from './require.ts'
