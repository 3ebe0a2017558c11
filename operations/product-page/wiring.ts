import { wiring } from '#runtime/wiring'
import { wireContent } from './lib/wire-a.ts'

export default wiring(() => {
  wireContent()
})
