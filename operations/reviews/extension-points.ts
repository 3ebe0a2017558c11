/** Extension points of this section, which other sections implement. */
import { extensionPoints, single } from '#runtime/extensions'
import type { FindReturned } from './requests/eligibility.ts'

const declared = extensionPoints({
  returnedItems: single<FindReturned>(),
})
export default declared

declare module '#runtime/extensions' {
  interface ExtensionPoints extends DeclaredByReviews {}
}
type DeclaredByReviews = typeof declared.declared
