#include "apps.h"

#include "c_cg/app.h"
#include "c_fe/app.h"
#include "c_h3d/app.h"
#include "c_srs/app.h"
#include "g_bfs/app.h"
#include "g_bs/app.h"
#include "g_c2d/app.h"
#include "g_gem/app.h"
#include "g_kmn/app.h"
#include "g_stn/app.h"

namespace sample {

const std::vector<const AppInfo*>& all_apps() {
  static const std::vector<const AppInfo*> apps{&c_srs_info(), &c_cg_info(), &c_fe_info(),  &c_h3d_info(),
                                                &g_bfs_info(), &g_bs_info(), &g_c2d_info(), &g_stn_info(),
                                                &g_gem_info(), &g_kmn_info()};
  return apps;
}

}  // namespace sample
