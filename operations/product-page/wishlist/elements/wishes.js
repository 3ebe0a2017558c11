// The shopper's list, stored in the browser: shared by all elements of the page and by other tabs.

import { useEffect, useState } from '../../../storefront/script/client/elements.js'

const atMost = 200
const changed = 'storefront:wishlist'
/** In memory only, if nothing can be stored. */
let inMemory = null

export function wishesIn(keep) {
  try {
    const kept = JSON.parse(keep.read('wishes') || 'null') ?? inMemory ?? []
    return Array.isArray(kept) ? kept.filter((each) => typeof each?.productId === 'string') : []
  } catch {
    return inMemory ?? []
  }
}

function write(keep, wishes) {
  inMemory = wishes
  keep.write('wishes', JSON.stringify(wishes))
  tellChanged(wishes)
}

const tellChanged = (wishes) => document.dispatchEvent(new CustomEvent(changed, { detail: { wishes } }))

export function add({ keep, tell }, { productId, variantId }) {
  const wishes = wishesIn(keep)
  // Added in another tab meanwhile.
  if (wishes.some((each) => each.productId === productId)) return tellChanged(wishes)
  write(keep, [{ productId, ...(variantId ? { variantId } : {}) }, ...wishes].slice(0, atMost))
  tell('wishlist-add', 'wishlist', { productId, ...(variantId ? { variantId } : {}) })
}

/** With the variant that was wished for, or without one. */
export function remove({ keep, tell }, productId) {
  const wishes = wishesIn(keep)
  write(
    keep,
    wishes.filter((each) => each.productId !== productId),
  )
  for (const wish of wishes) if (wish.productId === productId) tell('wishlist-remove', 'wishlist', wish)
}

export function useWishes(keep) {
  const [wishes, setWishes] = useState(() => wishesIn(keep))
  useEffect(() => {
    const look = () => setWishes(wishesIn(keep))
    document.addEventListener(changed, look)
    addEventListener('storage', look)
    // A page restored from the back/forward cache has missed changes.
    const onShow = ({ persisted }) => persisted && look()
    addEventListener('pageshow', onShow)
    return () => {
      removeEventListener('pageshow', onShow)
      document.removeEventListener(changed, look)
      removeEventListener('storage', look)
    }
  }, [keep])
  return wishes
}

/** Whether the shop knows its shopper: a theme reports it. If guests are allowed, everybody may have a list. */
export const mayWish = ({ allowGuests }) => allowGuests || Boolean(window.storefrontCustomer)
