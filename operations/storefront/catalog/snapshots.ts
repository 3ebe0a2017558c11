/** The catalog cache: sections show, target and count products from it without calling the platform. */
export {
  find,
  findProductsOfVariants,
  getStatus,
  type Snapshot,
} from './read.ts'
export { existingCategories, readLive, requireCategories, requireProducts } from './references.ts'
