// The script to upload in Tiendanube's partner portal, for the location "store", not auto installed. Tiendanube calls it with
// the parameters of the shop: `src` is the URL of the loader of all widgets.
;(() => {
  const own =
    document.currentScript || document.querySelector('script[src*="apps-scripts."][src*="src=http"]')
  const src = own && new URL(own.src, location.href).searchParams.get('src')
  if (!src?.startsWith('https://')) return
  const loader = document.createElement('script')
  loader.async = true
  loader.src = src
  document.head.appendChild(loader)
})()
