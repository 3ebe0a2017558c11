/** The catalog cache. Sections use it to show, target and count products without calling the platform. */
export {
  find,
  findProductsOfVariants,
  getStatus,
  type Snapshot,
} from './read.ts'
export { existingCategories, readLive, requireCategories, requireProducts } from './references.ts'
