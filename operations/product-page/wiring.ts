import { wiring } from '#runtime/wiring'
import { wireContent } from './lib/wire-a.ts'
import { wireLooksSizesWishlist } from './lib/wire-b.ts'

export default wiring(() => {
  wireContent()
  wireLooksSizesWishlist()
})
