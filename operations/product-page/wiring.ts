import { wiring } from '#runtime/wiring'
import { wireLooksSizesWishlist } from './lib/wire-b.ts'

export default wiring(() => {
  wireLooksSizesWishlist()
})
