import { home } from '#operations/store/lib/door'
import { wiring } from '#runtime/wiring'
import { unreadCount } from './kept.ts'

export default wiring(() => {
  home.registerPending('notifications-unread', {
    feature: null,
    count: unreadCount,
  })
})
