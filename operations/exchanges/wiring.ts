import { wiring } from '#runtime/wiring'
import { registerPhotos } from './lib/photos.ts'

export default wiring(() => {
  registerPhotos()
})
