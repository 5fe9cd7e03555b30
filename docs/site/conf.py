# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx makes the site of what tools/make-site gathered."""
import kloom

project = "kloom"
author = "the authors of kloom"
version = release = kloom.__version__
html_title = f"kloom {version}"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
# Excerpts would be fetched page by page, which browsers refuse to a site that is opened from a folder.
html_show_search_summary = False

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_pages.formulas"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
language = "en"
exclude_patterns = ["gallery/scripts"]

# Markdown as git hosts read it, and definition lists.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# A page may begin at any level of headings below another one.
suppress_warnings = ["myst.header"]

autodoc_typehints = "none"
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_use_ivar = True
napoleon_preprocess_types = False
python_use_unqualified_type_names = True
# Types in docstrings are words ("array of shape (n_samples,)"); classes, which begin with a capital, must be found.
nitpick_ignore_regex = [("py:class", r"[a-z_]+|.* .*")]
add_module_names = False

html_theme = "furo"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f99", "color-brand-content": "#1f5f99",
                            "font-stack": "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"},
    "dark_css_variables": {"color-brand-primary": "#7fb6ea", "color-brand-content": "#7fb6ea"},
}
html_math_renderer = "mathml"
