import { wiring } from '#runtime/wiring'
import { wireContent } from './wire-a.ts'
import { wireLooksSizesWishlist } from './wire-b.ts'

export default wiring(() => {
  wireContent()
  wireLooksSizesWishlist()
})
