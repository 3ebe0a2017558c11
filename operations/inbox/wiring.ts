import { members } from '#operations/store/lib/door'
import { wiring } from '#runtime/wiring'
import { releaseMember } from './lib/conversations.ts'

export default wiring(() => {
  members.onRemoved(releaseMember)
})
