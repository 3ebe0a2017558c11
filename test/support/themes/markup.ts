/**
 * Pages with the structure of WooCommerce's Storefront and PrestaShop's Classic: elements, nesting, class names and live
 * regions of their templates, in few lines of our own, and what their scripts redraw. Each part names its source.
 */
import { picture } from '../demo-media.ts'
import { foreignShop } from '../foreign-shop.ts'
import { formatMoney } from './liquid.ts'
import { type ProductOf, threeProducts } from './shop.ts'

export type PageKind = 'product' | 'category' | 'cart'

interface MarkupTheme {
  /** The page of a kind; `n` is the chosen variant of the product, or the page of the list. */
  render(kind: PageKind, n: number): string
  /** Code that does in the page what the theme's script does when `n` is chosen. */
  redraw: Record<PageKind, string>
  css: string
  bodyAttributes(kind: PageKind): string
  selectors: {
    price: string
    buy: string
    picture: string
    heading: string
    cart: string
    cardPicture: string
  }
  paths: Record<PageKind, string>
}

const [own, ...others] = threeProducts as [ProductOf, ...ProductOf[]]
const priceOf = (product: ProductOf, n = 0): string => formatMoney(product.variants[n]!.price * 100)
const image = (name: string, attributes = ''): string =>
  `<img src="${picture(name)}" alt="" width="600" height="600" ${attributes}>`

/** Replaces parts of the page by those of the same page with another choice, as both platforms do. */
const replaceBy = (query: string, selectors: readonly string[]): string => `(async () => {
  const text = await (await fetch(location.pathname + '${query}')).text()
  const fresh = new DOMParser().parseFromString(text, 'text/html')
  for (const selector of ${JSON.stringify(selectors)}) {
    const old = document.querySelector(selector)
    const one = fresh.querySelector(selector)
    if (old && one && old.outerHTML !== one.outerHTML) old.replaceWith(document.adoptNode(one))
  }
})()`

// woocommerce/storefront header.php, footer.php; inc/woocommerce/storefront-woocommerce-template-functions.php
// (`storefront_before_content`, `storefront_shop_messages`, `storefront_product_columns_wrapper`)
const wooShell = (content: string): string => `
  <div id="page" class="hfeed site">
    <header id="masthead" class="site-header" role="banner"><div class="col-full"><a href="/">Shop</a></div>
      <nav class="storefront-primary-navigation"><a href="/product-category/cozinha/">Cozinha</a></nav></header>
    <div id="content" class="site-content" tabindex="-1"><div class="col-full"><div class="woocommerce"></div>
      <div id="primary" class="content-area"><main id="main" class="site-main" role="main">${content}</main></div>
      <div id="secondary" class="widget-area" role="complementary"><div class="widget"><a href="/about">About</a></div></div>
    </div></div>
    <footer id="colophon" class="site-footer" role="contentinfo"><div class="col-full">Shop</div></footer>
  </div>`

// woocommerce/woocommerce plugins/woocommerce/templates/content-product.php with its hooks, loop/add-to-cart.php
const wooCard = (product: ProductOf): string => `
  <li class="product type-product post-${product.id} status-publish instock has-post-thumbnail">
    <a href="/product/${product.handle}/" class="woocommerce-LoopProduct-link woocommerce-loop-product__link">
      ${image(product.handle, 'class="attachment-woocommerce_thumbnail" loading="lazy"')}
      <h2 class="woocommerce-loop-product__title">${product.title}</h2>
      <span class="price"><span class="woocommerce-Price-amount amount"><bdi>${priceOf(product)}</bdi></span></span>
    </a>
    <a href="?add-to-cart=${product.id}" data-quantity="1" class="button product_type_simple add_to_cart_button ajax_add_to_cart"
      data-product_id="${product.id}" rel="nofollow">Comprar</a>
  </li>`
const wooList = (products: readonly ProductOf[]): string =>
  `<ul class="products columns-3">${products.map(wooCard).join('')}</ul>`

// …/templates/content-single-product.php, single-product/{product-image,title,price,short-description,related}.php,
// single-product/add-to-cart/{variable,variation,variation-add-to-cart-button}.php, single-product/tabs/tabs.php;
// the gallery as FlexSlider leaves it (client/legacy/js/frontend/single-product.js)
const wooProduct = (n: number): string => `
  <div class="woocommerce-notices-wrapper"></div>
  <div id="product-${own.id}" class="product type-product post-${own.id} product-type-variable has-post-thumbnail">
    <span class="onsale">Oferta</span>
    <div class="woocommerce-product-gallery woocommerce-product-gallery--with-images images" data-columns="4">
      <a href="#" class="woocommerce-product-gallery__trigger"><span aria-hidden="true">+</span></a>
      <div class="flex-viewport"><figure class="woocommerce-product-gallery__wrapper">
        ${[n, 5, 6].map((each) => `<div class="woocommerce-product-gallery__image"><a href="#big">${image(`mug-${each}`, 'class="wp-post-image"')}</a></div>`).join('')}
      </figure></div>
      <ol class="flex-control-nav flex-control-thumbs">${[n, 5, 6].map((each) => `<li>${image(`mug-${each}`)}</li>`).join('')}</ol>
    </div>
    <div class="summary entry-summary">
      <h1 class="product_title entry-title">${own.title}</h1>
      <p class="price"><span class="amount"><bdi>${priceOf(own, 1)}</bdi></span> – <span class="amount"><bdi>${priceOf(own)}</bdi></span></p>
      <div class="woocommerce-product-details__short-description"><p>Para todo dia.</p></div>
      <form class="variations_form cart" action="/product/${own.handle}/" method="post" data-product_id="${own.id}">
        <table class="variations" role="presentation"><tbody><tr><th class="label"><label for="size">Tamanho</label></th>
          <td class="value"><select id="size" name="attribute_size"><option>P</option><option>M</option></select></td></tr></tbody></table>
        <div class="reset_variations_alert screen-reader-text" aria-live="assertive"></div>
        <div class="single_variation_wrap">
          <div class="woocommerce-variation single_variation" role="alert" aria-relevant="additions">
            <div class="woocommerce-variation-price"><span class="price"><span class="amount"><bdi>${priceOf(own, n)}</bdi></span></span></div>
            <div class="woocommerce-variation-availability"><p class="stock in-stock">Em estoque</p></div></div>
          <div class="woocommerce-variation-add-to-cart variations_button">
            <div class="quantity"><label class="screen-reader-text" for="qty">Quantidade</label><input type="number" id="qty" class="input-text qty" name="quantity" value="1" size="4"></div>
            <button type="submit" class="single_add_to_cart_button button alt">Comprar</button>
            <input type="hidden" name="add-to-cart" value="${own.id}"><input type="hidden" name="product_id" value="${own.id}">
          </div></div>
      </form>
      <div class="product_meta"><span class="posted_in">Em <a href="/product-category/cozinha/">Cozinha</a></span></div>
    </div>
    <div class="woocommerce-tabs wc-tabs-wrapper">
      <ul class="tabs wc-tabs" role="tablist"><li role="presentation"><a href="#tab-description" role="tab">Descrição</a></li></ul>
      <div class="woocommerce-Tabs-panel woocommerce-Tabs-panel--description panel entry-content wc-tab" id="tab-description" role="tabpanel"><p>Feita à mão.</p></div>
    </div>
    <section class="related products"><h2>Veja também</h2>${wooList(others)}</section>
  </div>`

// …/templates/archive-product.php, loop/result-count.php
const wooCategory = (n: number): string => `
  <header class="woocommerce-products-header"><h1 class="woocommerce-products-header__title page-title">Cozinha</h1></header>
  <div class="storefront-sorting"><div class="woocommerce-notices-wrapper"></div>
    <p class="woocommerce-result-count" role="alert" aria-relevant="all" data-is-sorted-by="true">3 produtos</p></div>
  <div class="columns-3">${wooList(n === 0 ? threeProducts : threeProducts.toReversed())}</div>`

// woocommerce/storefront content-page.php; …/templates/cart/cart.php, cart/cart-totals.php
const wooCart = (n: number): string => `
  <article class="page type-page hentry"><header class="entry-header"><h1 class="entry-title">Carrinho</h1></header>
    <div class="entry-content"><div class="woocommerce"><div class="woocommerce-notices-wrapper"></div>
      <form class="woocommerce-cart-form" action="/cart/" method="post">
        <table class="shop_table shop_table_responsive cart woocommerce-cart-form__contents"><tbody>
          <tr class="woocommerce-cart-form__cart-item cart_item">
            <td class="product-remove"><a role="button" href="#" class="remove" data-product_id="${own.id}">×</a></td>
            <td class="product-thumbnail"><a href="/product/${own.handle}/">${image('cart')}</a></td>
            <td class="product-name"><a href="/product/${own.handle}/">${own.title}</a></td>
            <td class="product-quantity"><input type="number" class="qty" name="cart[1][qty]" value="${n + 1}" size="4"></td></tr>
          <tr><td colspan="4" class="actions"><button type="submit" class="button" name="update_cart" value="1">Atualizar</button></td></tr>
        </tbody></table></form>
      <div class="cart-collaterals"><div class="cart_totals"><h2>Total</h2>
        <a href="/checkout/" class="checkout-button button alt wc-forward">Finalizar</a></div></div>
    </div></div></article>`

const woo: MarkupTheme = {
  render: (kind, n) => wooShell({ product: wooProduct, category: wooCategory, cart: wooCart }[kind](n)),
  bodyAttributes: (kind) =>
    `class="woocommerce-active woocommerce woocommerce-page left-sidebar ${kind === 'product' ? 'single-product' : `woocommerce-${kind}`}"`,
  redraw: {
    // client/legacy/js/frontend/add-to-cart-variation.js: `onFoundVariation`, `wc_variations_image_update`
    product: `${replaceBy('?n=1', ['.single_variation > *', '.flex-viewport .woocommerce-product-gallery__image', '#size'])}`,
    category: replaceBy('?n=1', ['ul.products']),
    // client/legacy/js/frontend/cart.js: `update_wc_div`
    cart: replaceBy('?n=1', ['.woocommerce-cart-form', '.cart_totals']),
  },
  // Widths and floats as in assets/css/woocommerce/woocommerce.scss and style.scss
  css: `body { margin: 0 } .col-full { max-width: 66em; margin: 0 auto; padding: 0 20px; box-sizing: border-box }
    .col-full::after, .product::after, form.cart::after, ul.products::after { content: ''; display: table; clear: both }
    img { display: block; max-width: 100%; height: auto } ul.products { padding: 0; list-style: none; clear: both }
    ul.products li.product { position: relative; text-align: center; margin-bottom: 40px } ul.products img { margin: 0 auto 16px }
    .woocommerce-product-gallery { position: relative } .woocommerce-product-gallery__trigger { position: absolute; top: 0; right: 0; z-index: 99 }
    .flex-viewport { position: relative; overflow: hidden } .flex-viewport figure { margin: 0; width: 300%; display: flow-root }
    .flex-viewport figure > div { float: left; width: 33.3333% } .flex-control-thumbs { margin: 0; padding: 0; list-style: none; display: flow-root }
    .flex-control-thumbs li { float: left; width: 25% } .quantity { float: left } form.cart table { width: 100% } table { width: 100% }
    .screen-reader-text { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
    @media (min-width: 768px) { .content-area { float: right; width: 74% } .widget-area { float: left; width: 22% }
      .woocommerce-product-gallery { float: left; width: 41% } .summary { float: right; width: 55% } .woocommerce-tabs, .related { clear: both }
      ul.products li.product { float: left; width: 30%; margin-right: 3.3% } }`,
  selectors: {
    ...{
      price: '.summary .price',
      buy: '.single_add_to_cart_button',
      picture: '.flex-viewport',
      heading: '.related h2',
    },
    ...{ cart: '.woocommerce-cart-form', cardPicture: 'ul.products img' },
  },
  paths: { product: `/product/${own.handle}/`, category: '/product-category/cozinha/', cart: '/cart/' },
}

const prestaPath = (product: ProductOf): string => `/cozinha/${product.id}-${product.handle}.html`

// PrestaShop/classic-theme templates/layouts/layout-both-columns.tpl and layout-full-width.tpl
const prestaShell = (content: string): string => `
  <main>
    <header id="header"><nav class="header-nav"><div class="container"><a href="/cart">Carrinho</a></div></nav>
      <div class="header-top"><div class="container"><a href="/">${image('logo', 'style="height: 40px; width: 40px"')}</a></div></div></header>
    <section id="wrapper"><aside id="notifications"><div class="notifications-container container"></div></aside>
      <div class="container"><nav class="breadcrumb"><ol><li><a href="/3-cozinha">Cozinha</a></li></ol></nav>
        <div class="row"><div id="content-wrapper" class="js-content-wrapper col-xs-12"><section id="main">${content}</section></div></div>
      </div></section>
    <footer id="footer" class="js-footer"><div class="container">Shop</div></footer>
  </main>`

// …/templates/catalog/_partials/miniatures/product.tpl
const prestaCard = (product: ProductOf): string => `
  <div class="js-product product col-xs-12 col-sm-6 col-xl-4">
    <article class="product-miniature js-product-miniature" data-id-product="${product.id}" data-id-product-attribute="${product.variants[0]!.id}">
      <div class="thumbnail-container"><div class="thumbnail-top">
          <a href="${prestaPath(product)}" class="thumbnail product-thumbnail"><picture>${image(product.handle, 'loading="lazy"')}</picture></a>
          <div class="highlighted-informations no-variants"><a class="quick-view js-quick-view" href="#" data-link-action="quickview">Ver</a></div>
        </div>
        <div class="product-description">
          <h2 class="h3 product-title"><a href="${prestaPath(product)}">${product.title}</a></h2>
          <div class="product-price-and-shipping"><span class="price" aria-label="Preço">${priceOf(product)}</span></div>
        </div>
        <ul class="product-flags js-product-flags"><li class="product-flag new">Novo</li></ul>
      </div></article></div>`

// …/templates/catalog/product.tpl and _partials/product-{flags,cover-thumbnails,prices,variants,discounts,add-to-cart,
// additional-info,details,images-modal}.tpl
const prestaProduct = (n: number): string => `
  <div class="row product-container js-product-container">
    <div class="col-md-6"><section class="page-content" id="content">
      <ul class="product-flags js-product-flags"><li class="product-flag on-sale">Oferta</li></ul>
      <div class="images-container js-images-container">
        <div class="product-cover"><picture>${image(`mug-${n}`, 'class="js-qv-product-cover img-fluid" loading="lazy"')}</picture>
          <div class="layer hidden-sm-down" data-toggle="modal" data-target="#product-modal"><i class="material-icons zoom-in">+</i></div></div>
        <div class="js-qv-mask mask"><ul class="product-images js-qv-product-images">
          ${[n, 5].map((each) => `<li class="thumb-container js-thumb-container"><picture>${image(`mug-${each}`, 'class="thumb js-thumb"')}</picture></li>`).join('')}</ul></div>
      </div>
      <div class="scroll-box-arrows"><i class="material-icons left">&lt;</i><i class="material-icons right">&gt;</i></div>
    </section></div>
    <div class="col-md-6">
      <h1 class="h1">${own.title}</h1>
      <div class="product-prices js-product-prices"><div class="product-price h5"><div class="current-price"><span class="current-price-value">${priceOf(own, n)}</span></div></div>
        <div class="tax-shipping-delivery-label">Com impostos</div></div>
      <div class="product-information">
        <div id="product-description-short-${own.id}" class="product-description"><p>Para todo dia.</p></div>
        <div class="product-actions js-product-actions">
          <form action="/cart" method="post" id="add-to-cart-or-refresh">
            <input type="hidden" name="id_product" value="${own.id}" id="product_page_product_id">
            <div class="product-variants js-product-variants"><div class="clearfix product-variants-item"><span class="control-label">Tamanho: ${own.variants[n]!.title}</span>
              <select class="form-control form-control-select" aria-label="Tamanho" name="group[1]"><option>P</option><option>M</option></select></div></div>
            <section class="product-discounts js-product-discounts"></section>
            <div class="product-add-to-cart js-product-add-to-cart"><span class="control-label">Quantidade</span>
              <div class="product-quantity"><div class="qty"><input type="number" name="qty" id="quantity_wanted" value="1" aria-label="Quantidade"></div>
                <div class="add"><button class="btn btn-primary add-to-cart" data-button-action="add-to-cart" type="submit">Comprar</button></div></div>
              <span id="product-availability" class="js-product-availability"></span><p class="product-minimal-quantity js-product-minimal-quantity"></p></div>
            <div class="product-additional-info js-product-additional-info"><div class="social-sharing">Compartilhar</div></div>
          </form></div>
        <div class="tabs"><ul class="nav nav-tabs" role="tablist"><li class="nav-item"><a class="nav-link active" href="#description" role="tab">Descrição</a></li></ul>
          <div class="tab-content" id="tab-content">
            <div class="tab-pane fade in active" id="description" role="tabpanel"><div class="product-description"><p>Feita à mão.</p></div></div>
            <div class="js-product-details tab-pane fade" id="product-details" data-product="{}" role="tabpanel"></div></div></div>
      </div></div></div>
  <section class="product-accessories clearfix"><p class="h5">Veja também</p><div class="products row">${others.map(prestaCard).join('')}</div></section>
  <div class="modal fade js-product-images-modal" id="product-modal"><figure>${image('modal')}</figure></div>
  <footer class="page-footer"></footer>`

// …/templates/catalog/listing/product-list.tpl, _partials/{products,productlist,products-top}.tpl
const prestaCategory = (n: number): string => `
  <h1 id="js-product-list-header" class="h2">Cozinha</h1>
  <section id="products"><div id="js-product-list-top" class="row products-selection"><div class="total-products"><p>3 produtos</p></div></div>
    <div id="js-product-list"><div class="products row">${(n === 0 ? threeProducts : threeProducts.toReversed()).map(prestaCard).join('')}</div></div>
    <div id="js-product-list-bottom"></div></section>`

// …/templates/checkout/cart.tpl, _partials/cart-detailed.tpl, cart-detailed-product-line.tpl
const prestaCart = (n: number): string => `
  <div class="cart-grid row"><div class="cart-grid-body col-lg-8">
      <div class="card cart-container"><div class="card-block"><h1 class="h1">Carrinho</h1></div><hr class="separator">
        <div class="cart-overview js-cart" data-refresh-url="/cart?ajax=1"><ul class="cart-items"><li class="cart-item"><div class="product-line-grid">
          <div class="product-line-grid-left"><span class="product-image"><picture>${image('cart', 'style="width: 80px; height: 80px"')}</picture></span></div>
          <div class="product-line-grid-body"><div class="product-line-info"><a class="label" href="${prestaPath(own)}">${own.title}</a></div>
            <div class="product-line-info product-price h5"><div class="current-price"><span class="price">${priceOf(own)}</span></div></div></div>
          <div class="product-line-grid-right"><input class="js-cart-line-product-quantity" type="number" value="${n + 1}" aria-label="Quantidade" name="product-quantity-spin">
            <a class="remove-from-cart" href="#" data-id-product="${own.id}">×</a></div></div></li></ul></div></div>
      <a class="label" href="/">Continuar</a></div>
    <div class="cart-grid-right col-lg-4"><div class="card cart-summary"><div class="cart-detailed-totals js-cart-detailed-totals">${priceOf(own)}</div>
      <div class="cart-detailed-actions js-cart-detailed-actions"><a href="/order" class="btn btn-primary">Finalizar</a></div></div></div></div>`

const presta: MarkupTheme = {
  render: (kind, n) =>
    prestaShell({ product: prestaProduct, category: prestaCategory, cart: prestaCart }[kind](n)),
  bodyAttributes: (kind) => `id="${kind}" class="lang-pt currency-brl layout-full-width page-${kind}"`,
  redraw: {
    // PrestaShop/PrestaShop themes/_core/js/product.js: `updateProduct`, `replaceAddToCartSections`; selectors.js
    product: replaceBy('?n=1', [
      ...[
        '.product-container .images-container',
        '.product-container .product-prices',
        '.product-container .product-variants',
      ],
      ...[
        '.product-container .product-discounts',
        '.product-container .product-additional-info',
        '#product-details',
      ],
      ...[
        '.product-container .product-flags',
        '.product-add-to-cart .add',
        '.product-add-to-cart #product-availability',
      ],
    ]),
    // PrestaShop/classic-theme _dev/js/listing.js: `updateProductListDOM`
    category: replaceBy('?n=1', [
      '#js-product-list-top',
      '#js-product-list',
      '#js-product-list-bottom',
      '#js-product-list-header',
    ]),
    // PrestaShop/PrestaShop themes/_core/js/cart.js
    cart: replaceBy('?n=1', ['.cart-detailed-totals', '.cart-detailed-actions', '.cart-overview']),
  },
  // Bootstrap 4's grid, and sizes of _dev/css/components/{products,featuredproducts}.scss
  css: `* { box-sizing: border-box } body { margin: 0 } .container { max-width: 1140px; margin: 0 auto; padding: 0 15px }
    .row { margin: 0 -15px } .row::after, .clearfix::after { content: ''; display: block; clear: both }
    [class*='col-'] { padding: 0 15px; float: left; width: 100%; position: relative; min-height: 1px }
    .img-fluid, .product-thumbnail img { max-width: 100%; height: auto; display: block; margin: auto } .page-content { position: relative }
    .product-cover { position: relative; margin-bottom: 20px } .product-cover .layer { position: absolute; inset: 0; opacity: 0 }
    .mask { overflow: hidden; white-space: nowrap } .product-images { padding: 0; margin: 0 } .thumb-container { display: inline-block }
    .thumb { width: 100px; height: 100px } .scroll-box-arrows, .modal { display: none } .modal { position: fixed; inset: 0 }
    .product-flags { position: absolute; top: 0; left: 0; list-style: none; padding: 0; pointer-events: none } .product-quantity { display: flex; flex-wrap: wrap }
    .product-quantity .qty, .product-quantity .add { display: inline-flex } .products { display: flex; flex-wrap: wrap }
    .product-miniature { display: flex; justify-content: center } .thumbnail-container { position: relative; overflow: hidden }
    .thumbnail-top { position: relative; overflow: hidden } .product-thumbnail { display: block; position: relative }
    .highlighted-informations { position: absolute; top: 100%; width: 100% } .tab-pane:not(.active) { display: none }
    @media (max-width: 767px) { .hidden-sm-down { display: none } }
    @media (min-width: 576px) { .col-sm-6 { width: 50% } } @media (min-width: 768px) { .col-md-6 { width: 50% } }
    @media (min-width: 992px) { .col-lg-8 { width: 66.6% } .col-lg-4 { width: 33.3% } } @media (min-width: 1200px) { .col-xl-4 { width: 33.3% } }`,
  selectors: {
    ...{
      price: '.product-prices',
      buy: '.add-to-cart',
      picture: '.product-cover img',
      heading: '.product-accessories .h5',
    },
    ...{ cart: '.cart-container', cardPicture: '.product-miniature img' },
  },
  paths: { product: prestaPath(own), category: '/3-cozinha', cart: '/cart' },
}

export const markupThemes = { 'WooCommerce Storefront': woo, 'PrestaShop Classic': presta }
export type MarkupThemeName = keyof typeof markupThemes

/** The origin of a shop with a theme. `embed` is in each page's head, as a merchant or a plugin adds it. */
export function openMarkupShop(
  name: MarkupThemeName,
  embed: (kind: PageKind, product: ProductOf | null) => string,
): Promise<string> {
  const theme = markupThemes[name]
  const kinds = Object.entries(theme.paths) as [PageKind, string][]
  return foreignShop((address) => {
    const { pathname, searchParams } = new URL(address, 'http://shop')
    const [kind] = kinds.find(([, path]) => path === pathname) ?? ['category']
    const html = `<!doctype html><html lang="pt-BR"><head><title>Shop</title><link rel="icon" href="data:,">
      <meta name="viewport" content="width=device-width"><style>${theme.css}</style>${embed(kind as PageKind, kind === 'product' ? own : null)}</head>
      <body ${theme.bodyAttributes(kind as PageKind)}>${theme.render(kind as PageKind, Number(searchParams.get('n') ?? 0))}</body></html>`
    return { html }
  })
}
