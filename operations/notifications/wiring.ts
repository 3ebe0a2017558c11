import { home } from '#operations/store/door'
import { wiring } from '#runtime/wiring'
import { unreadCount } from './kept.ts'

export default wiring(() => {
  home.registerPending('notifications-unread', {
    feature: null,
    count: unreadCount,
  })
})
