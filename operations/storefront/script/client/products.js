// Loads products by id, for elements that show other products than the page's own. Loaded on demand.

import { useEffect, useState } from './elements.js'

const productsAtOnce = 50

/** Requests each product once. `products` is a map by id; it lacks products that are gone or not loaded yet. */
export function useProducts(ask, ids) {
  const [products, setProducts] = useState(new Map())
  const [isFailed, setFailed] = useState(false)
  const missing = ids.filter((id) => !products.has(id)).join(',')
  useEffect(() => {
    if (missing === '') return
    let isStill = true
    const all = missing.split(',')
    const parts = [...Array(Math.ceil(all.length / productsAtOnce)).keys()].map((at) =>
      all.slice(at * productsAtOnce, (at + 1) * productsAtOnce),
    )
    Promise.all(parts.map((some) => ask(`/products?${new URLSearchParams({ ids: some.join(',') })}`)))
      .then((answers) => {
        if (!isStill) return
        setFailed(false)
        const found = answers.flatMap(({ data }) => data.map((each) => [each.productId, each]))
        setProducts((known) => new Map([...known, ...found]))
      })
      .catch(() => isStill && setFailed(true))
    return () => {
      isStill = false
    }
  }, [missing])
  return { products, isFailed }
}
