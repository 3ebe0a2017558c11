// The shopper's list. It is stored in the browser and shared by all elements of the page and by other tabs.

import { useEffect, useState } from '../../../storefront/script/client/elements.js'

const atMost = 200
const changed = 'storefront:wishlist'
/** The list if the browser stores nothing. */
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
  // Another tab may have added the product meanwhile.
  if (wishes.some((each) => each.productId === productId)) return tellChanged(wishes)
  write(keep, [{ productId, ...(variantId ? { variantId } : {}) }, ...wishes].slice(0, atMost))
  tell('wishlist-add', 'wishlist', { productId, ...(variantId ? { variantId } : {}) })
}

/** Removes a product from the list, whichever variant of it was added. */
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
    // A page that is restored from the back/forward cache has missed changes of other pages.
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

/** Whether the shopper may have a list. If guests may not, the theme must have reported a customer who is logged in. */
export const mayWish = ({ allowGuests }) => allowGuests || Boolean(window.storefrontCustomer)
